#include "decode/layers/fields.h"

const struct field layer_fields[LAYER_FIELDS] = {
#define ALWAYS(kind, member)    REQUIRED_FIELD(kind, layer_row, member, #member)
#define SOMETIMES(kind, member) FIELD(kind, layer_row, member, #member)
    [LAYER_MODULE_NAME] = ALWAYS(STRING, module_name),
    [LAYER_MODULE_PARAMS] = ALWAYS(SIZE, module_params),
    [LAYER_ALLOCATED] = ALWAYS(SIZE, allocated),
    [LAYER_RESERVED] = ALWAYS(SIZE, reserved),
    [LAYER_IS_FORWARD] = ALWAYS(BOOL, is_forward),
    [LAYER_ALL_GATHERED] = ALWAYS(SIZE, all_gathered),
    [LAYER_CUMUL_ALL_GATHERED] = ALWAYS(SIZE, cumul_all_gathered),
    [LAYER_MEMORY_DIFF] = ALWAYS(CHANGE, memory_diff),
    [LAYER_MEMORY_ACTIVATIONS] = ALWAYS(SIZE, memory_activations),
    [LAYER_FORWARD_US] = SOMETIMES(DURATION, forward_us),
    [LAYER_BACKWARD_US] = SOMETIMES(DURATION, backward_us),
    [LAYER_DEPTH] = SOMETIMES(COUNT, depth),
    [LAYER_SAVED_ACTIVATIONS] = SOMETIMES(SIZE, saved_activations),
    [LAYER_IS_LEAF] = SOMETIMES(BOOL, is_leaf),
    [LAYER_OUTPUT_BYTES] = SOMETIMES(SIZE, output_bytes),
    [LAYER_GRADIENT_BYTES] = SOMETIMES(SIZE, gradient_bytes),
    [LAYER_PEAK_BYTES] = SOMETIMES(SIZE, peak_bytes),
    [LAYER_TAIL_US] = SOMETIMES(DURATION, tail_us),
    [LAYER_PLAIN] = SOMETIMES(BOOL, plain),
    [LAYER_FOLLOWS] = SOMETIMES(BOOL, follows),
    [LAYER_CHANGES] = SOMETIMES(COUNT, changes),
    [LAYER_FORWARD_ROW] = SOMETIMES(COUNT, forward_row),
    [LAYER_CAST_BYTES] = SOMETIMES(SIZE, cast_bytes),
    [LAYER_SAVED_PEAK_BYTES] = SOMETIMES(SIZE, saved_peak_bytes),
    [LAYER_START_BYTES] = SOMETIMES(SIZE, start_bytes),
    [LAYER_OLD_GRADIENT_BYTES] = SOMETIMES(SIZE, old_gradient_bytes),
    [LAYER_WORKSPACE_BYTES] = SOMETIMES(SIZE, workspace_bytes),
    [LAYER_LIMITED_BYTES] = SOMETIMES(SIZE, limited_bytes),
    [LAYER_LIMIT_BYTES] = SOMETIMES(SIZE, limit_bytes),
    [LAYER_FLOPS] = SOMETIMES(SIZE, flops),
    [LAYER_TAIL_FLOPS] = SOMETIMES(SIZE, tail_flops),
    [LAYER_DTYPE] = SOMETIMES(STRING, dtype),
    [LAYER_TENSORS] = SOMETIMES(STRING, tensors),
    [LAYER_TRAITS] = SOMETIMES(STRING, traits),
    [LAYER_FIRST_NAME] = SOMETIMES(STRING, first_name),
    [LAYER_READS] = OTHER_FIELD("a list of storages", "reads", false),
    [LAYER_SAVES] = OTHER_FIELD("a list of storages", "saves", false),
};

const struct field layer_operator_fields[OPERATOR_FIELDS] = {
#define OPERATOR(kind, member) REQUIRED_FIELD(kind, layer_operator, member, #member)
    [OPERATOR_NAME] = OPERATOR(STRING, name),
    [OPERATOR_ROW] = OPERATOR(COUNT, row),
    [OPERATOR_US] = OPERATOR(DURATION, us),
    [OPERATOR_TAIL_US] = OPERATOR(DURATION, tail_us),
    [OPERATOR_OTHER_BYTES] = OPERATOR(SIZE, other_bytes),
    [OPERATOR_KEEPABLE] = OPERATOR(BOOL, keepable),
    [OPERATOR_FLOPS] = FIELD(SIZE, layer_operator, flops, "flops"),
    [OPERATOR_TAIL_FLOPS] = FIELD(SIZE, layer_operator, tail_flops, "tail_flops"),
    [OPERATOR_MADE] = OTHER_FIELD("a list of storages", "made", true),
};

const struct field layer_fact_fields[LAYER_FACTS] = {
#define FACT(kind, member) FIELD(kind, layer_facts, member, #member)
    [FACT_SCHEMA] = FACT(STRING, schema),
    [FACT_TORCH] = FACT(STRING, torch),
    [FACT_DEVICE] = FACT(STRING, device),
    [FACT_TIME] = FACT(STRING, time),
    [FACT_RANK] = FACT(COUNT, rank),
    [FACT_RANKS] = FACT(COUNT, ranks),
    [FACT_PARAMETER_BYTES] = FACT(SIZE, parameter_bytes),
    [FACT_BUFFER_BYTES] = FACT(SIZE, buffer_bytes),
    [FACT_BESIDE_BYTES] = FACT(SIZE, beside_bytes),
    [FACT_BATCH_BYTES] = FACT(SIZE, batch_bytes),
    [FACT_BEFORE_BYTES] = FACT(SIZE, before_bytes),
    [FACT_PEAK_BYTES] = FACT(SIZE, peak_bytes),
    [FACT_HOST_BYTES] = FACT(SIZE, host_bytes),
    [FACT_FAILED_IN] = FACT(STRING, failed_in),
};

static const struct field storage_field = FIELD(COUNT, layer_storage, row, "a storage");

bool layer_storage_number(bool negative, uint64_t magnitude, uint64_t offset, uint32_t *number,
                          struct error *err)
{
    struct layer_storage storage;
    if (!field_set_integer(&storage_field, &storage, negative, magnitude, offset, err))
        return false;
    if (storage.row >= UINT32_MAX)
        return error_set_at(err, STATUS_LIMIT, offset, "a storage's number is 2^32-1 or more");
    *number = (uint32_t)storage.row;
    return true;
}

bool layer_storage_set(struct layer_storage *storage, size_t item, bool negative,
                       uint64_t magnitude, uint64_t offset, struct error *err)
{
    static const struct field fields[] = {
        FIELD(SIZE, layer_storage, bytes, "a storage"),
        FIELD(COUNT, layer_storage, row, "the row that made a storage"),
        FIELD(COUNT, layer_storage, held, "the row until which a storage is held"),
    };
    return field_set_integer(&fields[item], storage, negative, magnitude, offset, err);
}

struct storage_list *layer_list(struct layer_row *row, enum layer_field field)
{
    return field == LAYER_READS ? &row->reads : &row->saves;
}

bool layer_schema_check(struct text schema, uint64_t offset, struct error *err)
{
    return text_equals(schema, LAYERS_SCHEMA) ||
           error_set_at(err, STATUS_BAD_INPUT, offset,
                        "expected the schema \"" LAYERS_SCHEMA "\", found another");
}

bool layer_operator_check(const struct layer_operator *operation, uint64_t offset,
                          struct error *err)
{
    return fields_check(layer_operator_fields, OPERATOR_FIELDS, operation->present, "an operator",
                        offset, err);
}

bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err)
{
    uint64_t seen = row->present;
    if (layer_has(row, LAYER_IS_FORWARD) && !row->is_forward)
        seen |= UINT64_C(1) << LAYER_MEMORY_DIFF; /* only required in forward rows */
    return fields_check(layer_fields, LAYER_FIELDS, seen, "a trace", offset, err);
}
