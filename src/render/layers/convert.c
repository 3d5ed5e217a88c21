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

/* The facts of the step, in output order, by the keys and members of struct layer_facts. */
static const struct fact {
    const char *key;
    bool is_text;
    size_t member;
} facts[LAYER_FACTS] = {
#define FACT(key, text)                                                                            \
    {                                                                                              \
#key, text, offsetof(struct layer_facts, key)                                              \
    }
    [FACT_SCHEMA] = FACT(schema, true),
    [FACT_TORCH] = FACT(torch, true),
    [FACT_DEVICE] = FACT(device, true),
    [FACT_TIME] = FACT(time, true),
    [FACT_RANK] = FACT(rank, false),
    [FACT_RANKS] = FACT(ranks, false),
    [FACT_PARAMETER_BYTES] = FACT(parameter_bytes, false),
    [FACT_BUFFER_BYTES] = FACT(buffer_bytes, false),
    [FACT_BATCH_BYTES] = FACT(batch_bytes, false),
    [FACT_BEFORE_BYTES] = FACT(before_bytes, false),
    [FACT_PEAK_BYTES] = FACT(peak_bytes, false),
    [FACT_HOST_BYTES] = FACT(host_bytes, false),
    [FACT_FAILED_IN] = FACT(failed_in, true),
};

static bool has_fact(const struct layer_trace *trace, enum layer_fact fact)
{
    return (trace->facts.present >> fact & 1) != 0;
}

static struct text fact_text(const struct layer_trace *trace, enum layer_fact fact)
{
    const char *at = (const char *)&trace->facts + facts[fact].member;
    return symbols_text(trace->symbols, *(const string_id *)(const void *)at);
}

static int64_t fact_number(const struct layer_trace *trace, enum layer_fact fact)
{
    const char *at = (const char *)&trace->facts + facts[fact].member;
    return *(const int64_t *)(const void *)at;
}

static void put_facts(struct json_writer *json, const struct layer_trace *trace)
{
    for (enum layer_fact i = 0; i < LAYER_FACTS; i++)
        if (has_fact(trace, i) && facts[i].is_text)
            json_put_text(json, facts[i].key, fact_text(trace, i));
        else if (has_fact(trace, i))
            json_put_integer(json, facts[i].key, fact_number(trace, i));
}

static void put_storages(struct json_writer *json, const struct layer_trace *trace)
{
    if (trace->storage_count == 0)
        return;
    json_put_open(json, "storages", '[');
    for (size_t i = 0; i < trace->storage_count; i++) {
        json_put_open(json, NULL, '[');
        json_put_integer(json, NULL, trace->storages[i].bytes);
        json_put_integer(json, NULL, trace->storages[i].row);
        json_put_close(json, ']');
    }
    json_put_close(json, ']');
}

static void put_list(struct json_writer *json, const char *key, const struct layer_trace *trace,
                     struct storage_list list)
{
    json_put_open(json, key, '[');
    for (uint32_t i = 0; i < list.count; i++)
        json_put_integer(json, NULL, trace->storage_numbers[list.first + i]);
    json_put_close(json, ']');
}

static bool operator_has(const struct layer_operator *operation, enum operator_field field)
{
    return (operation->present >> field & 1) != 0;
}

static void put_operators(struct json_writer *json, const struct layer_trace *trace)
{
    if (trace->operator_count == 0)
        return;
    json_put_open(json, "operators", '[');
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operation = &trace->operators[i];
        json_put_open(json, NULL, '{');
        json_put_text(json, "name", symbols_text(trace->symbols, operation->name));
        json_put_integer(json, "row", operation->row);
        put_time(json, "us", operation->us);
        put_time(json, "tail_us", operation->tail_us);
        json_put_integer(json, "other_bytes", operation->other_bytes);
        json_put_bool(json, "keepable", operation->keepable);
        if (operator_has(operation, OPERATOR_FLOPS))
            json_put_integer(json, "flops", operation->flops);
        if (operator_has(operation, OPERATOR_TAIL_FLOPS))
            json_put_integer(json, "tail_flops", operation->tail_flops);
        put_list(json, "made", trace, operation->made);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

/* The keys that only memsnap's recorder writes. */
static void put_recorded(struct json_writer *json, const struct layer_trace *trace,
                         const struct layer_row *row)
{
    if (layer_has(row, LAYER_IS_LEAF))
        json_put_bool(json, "is_leaf", row->is_leaf);
    if (layer_has(row, LAYER_OUTPUT_BYTES))
        json_put_integer(json, "output_bytes", row->output_bytes);
    if (layer_has(row, LAYER_GRADIENT_BYTES))
        json_put_integer(json, "gradient_bytes", row->gradient_bytes);
    if (layer_has(row, LAYER_PEAK_BYTES))
        json_put_integer(json, "peak_bytes", row->peak_bytes);
    if (layer_has(row, LAYER_TAIL_US))
        put_time(json, "tail_us", row->tail_us);
    if (layer_has(row, LAYER_PLAIN))
        json_put_bool(json, "plain", row->plain);
    if (layer_has(row, LAYER_FOLLOWS))
        json_put_bool(json, "follows", row->follows);
    if (layer_has(row, LAYER_CHANGES))
        json_put_integer(json, "changes", row->changes);
    if (layer_has(row, LAYER_FORWARD_ROW))
        json_put_integer(json, "forward_row", row->forward_row);
    if (layer_has(row, LAYER_CAST_BYTES))
        json_put_integer(json, "cast_bytes", row->cast_bytes);
    if (layer_has(row, LAYER_SAVED_PEAK_BYTES))
        json_put_integer(json, "saved_peak_bytes", row->saved_peak_bytes);
    if (layer_has(row, LAYER_FLOPS))
        json_put_integer(json, "flops", row->flops);
    if (layer_has(row, LAYER_TAIL_FLOPS))
        json_put_integer(json, "tail_flops", row->tail_flops);
    if (layer_has(row, LAYER_DTYPE))
        json_put_text(json, "dtype", symbols_text(trace->symbols, row->dtype));
    if (layer_has(row, LAYER_TENSORS))
        json_put_text(json, "tensors", symbols_text(trace->symbols, row->tensors));
    if (layer_has(row, LAYER_TRAITS))
        json_put_text(json, "traits", symbols_text(trace->symbols, row->traits));
    if (layer_has(row, LAYER_READS))
        put_list(json, "reads", trace, row->reads);
    if (layer_has(row, LAYER_SAVES))
        put_list(json, "saves", trace, row->saves);
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
    put_recorded(json, trace, row);
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
    put_facts(&json, trace);
    json_put_open(&json, "traces", '[');
    for (size_t i = 0; i < trace->count; i++)
        put_row(&json, trace, &trace->rows[i]);
    json_put_close(&json, ']');
    put_storages(&json, trace);
    put_operators(&json, trace);
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
    [LAYER_IS_LEAF] = "is_leaf",
    [LAYER_OUTPUT_BYTES] = "output_bytes",
    [LAYER_GRADIENT_BYTES] = "gradient_bytes",
    [LAYER_PEAK_BYTES] = "peak_bytes",
    [LAYER_TAIL_US] = "tail_us",
    [LAYER_PLAIN] = "plain",
    [LAYER_FOLLOWS] = "follows",
    [LAYER_CHANGES] = "changes",
    [LAYER_FORWARD_ROW] = "forward_row",
    [LAYER_CAST_BYTES] = "cast_bytes",
    [LAYER_SAVED_PEAK_BYTES] = "saved_peak_bytes",
    [LAYER_FLOPS] = "flops",
    [LAYER_TAIL_FLOPS] = "tail_flops",
    [LAYER_DTYPE] = "dtype",
    [LAYER_TENSORS] = "tensors",
    [LAYER_TRAITS] = "traits",
    [LAYER_READS] = "reads",
    [LAYER_SAVES] = "saves",
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

static void pack_bool(msgpack_packer *packer, bool value)
{
    if (value)
        msgpack_pack_true(packer);
    else
        msgpack_pack_false(packer);
}

static void pack_list(msgpack_packer *packer, const struct layer_trace *trace,
                      struct storage_list list)
{
    msgpack_pack_array(packer, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        msgpack_pack_uint32(packer, trace->storage_numbers[list.first + i]);
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
        [LAYER_OUTPUT_BYTES] = row->output_bytes,
        [LAYER_GRADIENT_BYTES] = row->gradient_bytes,
        [LAYER_PEAK_BYTES] = row->peak_bytes,
        [LAYER_CHANGES] = row->changes,
        [LAYER_FORWARD_ROW] = row->forward_row,
        [LAYER_CAST_BYTES] = row->cast_bytes,
        [LAYER_SAVED_PEAK_BYTES] = row->saved_peak_bytes,
        [LAYER_FLOPS] = row->flops,
        [LAYER_TAIL_FLOPS] = row->tail_flops,
    };
    if (!layer_has(row, field)) {
        msgpack_pack_nil(packer);
        return;
    }
    switch (field) {
    case LAYER_MODULE_NAME:
    case LAYER_DTYPE:
    case LAYER_TENSORS:
    case LAYER_TRAITS: {
        string_id id = field == LAYER_DTYPE     ? row->dtype
                       : field == LAYER_TENSORS ? row->tensors
                       : field == LAYER_TRAITS  ? row->traits
                                                : row->module_name;
        struct text text = symbols_text(trace->symbols, id);
        pack_text(packer, text.bytes, text.size);
        break;
    }
    case LAYER_IS_FORWARD:
        pack_bool(packer, row->is_forward);
        break;
    case LAYER_IS_LEAF:
        pack_bool(packer, row->is_leaf);
        break;
    case LAYER_PLAIN:
        pack_bool(packer, row->plain);
        break;
    case LAYER_FOLLOWS:
        pack_bool(packer, row->follows);
        break;
    case LAYER_FORWARD_US:
        pack_time(packer, row->forward_us);
        break;
    case LAYER_BACKWARD_US:
        pack_time(packer, row->backward_us);
        break;
    case LAYER_TAIL_US:
        pack_time(packer, row->tail_us);
        break;
    case LAYER_READS:
    case LAYER_SAVES:
        pack_list(packer, trace, field == LAYER_READS ? row->reads : row->saves);
        break;
    default:
        msgpack_pack_int64(packer, sizes[field]);
    }
}

static void pack_facts(msgpack_packer *packer, const struct layer_trace *trace)
{
    for (enum layer_fact i = 0; i < LAYER_FACTS; i++) {
        if (!has_fact(trace, i))
            continue;
        pack_word(packer, facts[i].key);
        if (facts[i].is_text) {
            struct text text = fact_text(trace, i);
            pack_text(packer, text.bytes, text.size);
        } else {
            msgpack_pack_int64(packer, fact_number(trace, i));
        }
    }
}

static void pack_storages(msgpack_packer *packer, const struct layer_trace *trace)
{
    if (trace->storage_count == 0)
        return;
    pack_word(packer, "storages");
    msgpack_pack_array(packer, trace->storage_count);
    for (size_t i = 0; i < trace->storage_count; i++) {
        msgpack_pack_array(packer, 2);
        msgpack_pack_int64(packer, trace->storages[i].bytes);
        msgpack_pack_int64(packer, trace->storages[i].row);
    }
}

static void pack_operators(msgpack_packer *packer, const struct layer_trace *trace)
{
    if (trace->operator_count == 0)
        return;
    pack_word(packer, "operators");
    msgpack_pack_array(packer, trace->operator_count);
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operation = &trace->operators[i];
        struct text name = symbols_text(trace->symbols, operation->name);
        bool flops = operator_has(operation, OPERATOR_FLOPS);
        bool tail = operator_has(operation, OPERATOR_TAIL_FLOPS);
        msgpack_pack_map(packer, OPERATOR_FIELDS - (size_t)!flops - (size_t)!tail);
        pack_word(packer, "name");
        pack_text(packer, name.bytes, name.size);
        pack_word(packer, "row");
        msgpack_pack_int64(packer, operation->row);
        pack_word(packer, "us");
        pack_time(packer, operation->us);
        pack_word(packer, "tail_us");
        pack_time(packer, operation->tail_us);
        pack_word(packer, "other_bytes");
        msgpack_pack_int64(packer, operation->other_bytes);
        pack_word(packer, "keepable");
        pack_bool(packer, operation->keepable);
        if (flops) {
            pack_word(packer, "flops");
            msgpack_pack_int64(packer, operation->flops);
        }
        if (tail) {
            pack_word(packer, "tail_flops");
            msgpack_pack_int64(packer, operation->tail_flops);
        }
        pack_word(packer, "made");
        pack_list(packer, trace, operation->made);
    }
}

bool layers_write_msgpack(FILE *out, const struct layer_trace *trace)
{
    msgpack_packer packer;
    size_t columns = 0;
    for (enum layer_field i = 0; i < LAYER_FIELDS; i++)
        columns += has_column(trace, i);
    msgpack_packer_init(&packer, out, write_piece);
    msgpack_pack_map(&packer, 3 + (size_t)__builtin_popcount(trace->facts.present) +
                                  (trace->storage_count > 0) + (trace->operator_count > 0));
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
    pack_facts(&packer, trace);
    pack_storages(&packer, trace);
    pack_operators(&packer, trace);
    return true;
}
