#include "render/layers/convert.h"

#include <msgpack.h>
#include <string.h>

#include "render/core/json.h"

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53 */

/* Writes a whole number of microseconds as an integer, because it most likely was one. */
static void put_time(struct json_writer *json, const char *key, double microseconds)
{
    if (microseconds <= WHOLE_LIMIT && microseconds == (double)(int64_t)microseconds)
        json_put_integer(json, key, (int64_t)microseconds);
    else
        json_put_real(json, key, microseconds);
}

static void put_row(struct json_writer *json, const struct layer_trace *trace,
                    const struct layer_row *row)
{
    json_put_open(json, NULL, '{');
    json_put_text(json, "module_name", layer_name(trace, row));
    json_put_integer(json, "module_params", row->module_params);
    json_put_integer(json, "allocated", row->allocated);
    json_put_integer(json, "reserved", row->reserved);
    json_put_bool(json, "is_forward", row->is_forward);
    json_put_integer(json, "all_gathered", row->all_gathered);
    json_put_integer(json, "cumul_all_gathered", row->cumul_all_gathered);
    if (layer_has(row, LAYER_FORWARD_US))
        put_time(json, "forward_us", row->forward_us);
    if (layer_has(row, LAYER_BACKWARD_US))
        put_time(json, "backward_us", row->backward_us);
    if (layer_has(row, LAYER_DEPTH))
        json_put_integer(json, "depth", row->depth);
    if (layer_has(row, LAYER_SAVED_ACTIVATIONS))
        json_put_integer(json, "saved_activations", row->saved_activations);
    json_put_open(json, "event", '{');
    if (layer_has(row, LAYER_MEMORY_DIFF))
        json_put_integer(json, "memory_diff", row->memory_diff);
    json_put_integer(json, "memory_activations", row->memory_activations);
    json_put_close(json, '}');
    json_put_close(json, '}');
}

bool layers_write_json(FILE *out, const struct layer_trace *trace)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_open(&json, "traces", '[');
    for (size_t i = 0; i < trace->count; i++)
        put_row(&json, trace, &trace->rows[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

/* The columns in output order. Those from LAYER_FORWARD_US on are written only if some row has
 * them. */
static const char *const names[LAYER_FIELDS] = {
    [LAYER_MODULE_NAME] = "module_name",
    [LAYER_MODULE_PARAMS] = "module_params",
    [LAYER_ALLOCATED] = "allocated",
    [LAYER_RESERVED] = "reserved",
    [LAYER_IS_FORWARD] = "is_forward",
    [LAYER_ALL_GATHERED] = "all_gathered",
    [LAYER_CUMUL_ALL_GATHERED] = "cumul_all_gathered",
    [LAYER_MEMORY_DIFF] = "memory_diff",
    [LAYER_MEMORY_ACTIVATIONS] = "memory_activations",
    [LAYER_FORWARD_US] = "forward_us",
    [LAYER_BACKWARD_US] = "backward_us",
    [LAYER_DEPTH] = "depth",
    [LAYER_SAVED_ACTIVATIONS] = "saved_activations",
};

static bool has_column(const struct layer_trace *trace, enum layer_field field)
{
    return field < LAYER_FORWARD_US || (trace->present >> field & 1) != 0;
}

static int write_piece(void *out, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, out) == size ? 0 : -1; /* ferror() tells */
}

static void pack_text(msgpack_packer *packer, const char *bytes, size_t size)
{
    msgpack_pack_str(packer, size);
    msgpack_pack_str_body(packer, bytes, size);
}

static void pack_word(msgpack_packer *packer, const char *word)
{
    pack_text(packer, word, strlen(word));
}

static void pack_time(msgpack_packer *packer, double microseconds)
{
    if (microseconds == (double)(uint64_t)microseconds) /* at most 2^53 */
        msgpack_pack_uint64(packer, (uint64_t)microseconds);
    else
        msgpack_pack_double(packer, microseconds);
}

static void pack_cell(msgpack_packer *packer, const struct layer_trace *trace,
                      const struct layer_row *row, enum layer_field field)
{
    const int64_t sizes[LAYER_FIELDS] = {
        [LAYER_MODULE_PARAMS] = row->module_params,
        [LAYER_ALLOCATED] = row->allocated,
        [LAYER_RESERVED] = row->reserved,
        [LAYER_ALL_GATHERED] = row->all_gathered,
        [LAYER_CUMUL_ALL_GATHERED] = row->cumul_all_gathered,
        [LAYER_MEMORY_DIFF] = row->memory_diff,
        [LAYER_MEMORY_ACTIVATIONS] = row->memory_activations,
        [LAYER_DEPTH] = row->depth,
        [LAYER_SAVED_ACTIVATIONS] = row->saved_activations,
    };
    struct text name = layer_name(trace, row);
    if (!layer_has(row, field))
        msgpack_pack_nil(packer);
    else if (field == LAYER_MODULE_NAME)
        pack_text(packer, name.bytes, name.size);
    else if (field == LAYER_IS_FORWARD)
        row->is_forward ? msgpack_pack_true(packer) : msgpack_pack_false(packer);
    else if (field == LAYER_FORWARD_US || field == LAYER_BACKWARD_US)
        pack_time(packer, field == LAYER_FORWARD_US ? row->forward_us : row->backward_us);
    else
        msgpack_pack_int64(packer, sizes[field]);
}

bool layers_write_msgpack(FILE *out, const struct layer_trace *trace)
{
    msgpack_packer packer;
    size_t columns = 0;
    for (enum layer_field i = 0; i < LAYER_FIELDS; i++)
        columns += has_column(trace, i);
    msgpack_packer_init(&packer, out, write_piece);
    msgpack_pack_map(&packer, 3);
    pack_word(&packer, "memsnap");
    pack_word(&packer, "layers/1");
    pack_word(&packer, "columns");
    msgpack_pack_array(&packer, columns);
    for (enum layer_field i = 0; i < LAYER_FIELDS; i++)
        if (has_column(trace, i))
            pack_word(&packer, names[i]);
    pack_word(&packer, "rows");
    msgpack_pack_array(&packer, trace->count);
    for (size_t i = 0; i < trace->count; i++) {
        msgpack_pack_array(&packer, columns);
        for (enum layer_field n = 0; n < LAYER_FIELDS; n++)
            if (has_column(trace, n))
                pack_cell(&packer, trace, &trace->rows[i], n);
    }
    return true;
}
