#include <msgpack.h>
#include <string.h>

#include "render/layers/convert.h"

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
