#include <msgpack.h>
#include <string.h>

#include "render/layers/convert.h"
#include "render/layers/facts.h"

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
    [LAYER_START_BYTES] = "start_bytes",
    [LAYER_OLD_GRADIENT_BYTES] = "old_gradient_bytes",
    [LAYER_WORKSPACE_BYTES] = "workspace_bytes",
    [LAYER_LIMITED_BYTES] = "limited_bytes",
    [LAYER_LIMIT_BYTES] = "limit_bytes",
    [LAYER_FLOPS] = "flops",
    [LAYER_TAIL_FLOPS] = "tail_flops",
    [LAYER_DTYPE] = "dtype",
    [LAYER_TENSORS] = "tensors",
    [LAYER_TRAITS] = "traits",
    [LAYER_FIRST_NAME] = "first_name",
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

/* The value of a field that is a whole number. */
static int64_t number_of(const struct layer_row *row, enum layer_field field)
{
    const int64_t numbers[LAYER_FIELDS] = {
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
        [LAYER_START_BYTES] = row->start_bytes,
        [LAYER_OLD_GRADIENT_BYTES] = row->old_gradient_bytes,
        [LAYER_WORKSPACE_BYTES] = row->workspace_bytes,
        [LAYER_LIMITED_BYTES] = row->limited_bytes,
        [LAYER_LIMIT_BYTES] = row->limit_bytes,
        [LAYER_FLOPS] = row->flops,
        [LAYER_TAIL_FLOPS] = row->tail_flops,
    };
    return numbers[field];
}

static void pack_cell(msgpack_packer *packer, const struct layer_trace *trace,
                      const struct layer_row *row, enum layer_field field)
{
    if (!layer_has(row, field)) {
        msgpack_pack_nil(packer);
        return;
    }
    switch (field) {
    case LAYER_MODULE_NAME:
    case LAYER_DTYPE:
    case LAYER_TENSORS:
    case LAYER_TRAITS:
    case LAYER_FIRST_NAME: {
        string_id id = field == LAYER_DTYPE        ? row->dtype
                       : field == LAYER_TENSORS    ? row->tensors
                       : field == LAYER_TRAITS     ? row->traits
                       : field == LAYER_FIRST_NAME ? row->first_name
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
        msgpack_pack_int64(packer, number_of(row, field));
    }
}

static void pack_facts(msgpack_packer *packer, const struct layer_trace *trace)
{
    for (enum layer_fact i = 0; i < LAYER_FACTS; i++) {
        if (!layers_has_fact(trace, i))
            continue;
        pack_word(packer, layers_facts[i].key);
        if (layers_facts[i].is_text) {
            struct text text = layers_fact_text(trace, i);
            pack_text(packer, text.bytes, text.size);
        } else {
            msgpack_pack_int64(packer, layers_fact_number(trace, i));
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
        bool is_held = trace->storages[i].held > 0;
        msgpack_pack_array(packer, is_held ? 3 : 2);
        msgpack_pack_int64(packer, trace->storages[i].bytes);
        msgpack_pack_int64(packer, trace->storages[i].row);
        if (is_held)
            msgpack_pack_int64(packer, trace->storages[i].held);
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
        bool flops = layers_operator_has(operation, OPERATOR_FLOPS);
        bool tail = layers_operator_has(operation, OPERATOR_TAIL_FLOPS);
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
