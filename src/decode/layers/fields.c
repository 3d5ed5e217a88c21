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
};

bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err)
{
    uint32_t seen = row->present;
    if (layer_has(row, LAYER_IS_FORWARD) && !row->is_forward)
        seen |= UINT32_C(1) << LAYER_MEMORY_DIFF; /* only required in forward rows */
    return fields_check(layer_fields, LAYER_FIELDS, seen, "a trace", offset, err);
}
