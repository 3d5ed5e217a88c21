#include "analysis/shard/room.h"

#include <stdlib.h>

#define PARTS 5 /* rounding and fragmentation in the allocator take 1/PARTS of the peak */

bool shard_find_largest_unit(const struct shard_model *model, const struct shard_options *options,
                             int64_t *bytes, struct error *err)
{
    int64_t *elements = calloc(model->unit_count, sizeof(*elements)), most = 0;
    if (!elements)
        return error_out_of_memory(err);
    for (size_t i = 0; i < model->tensor_count; i++) {
        int64_t *sum = &elements[model->tensors[i].unit];
        *sum += model->tensors[i].elements;
        if (*sum > most)
            most = *sum;
    }
    *bytes = most * (options->compute_size > 0     ? options->compute_size
                     : options->parameter_size > 0 ? options->parameter_size
                                                   : model->element_size);
    free(elements);
    return true;
}

/* A gathered unit, because what is cached for the stream of the communication serves no other one.
 */
uint64_t shard_usable_bytes(enum shard_strategy strategy, int64_t unit_bytes, uint64_t gpu_bytes)
{
    uint64_t unit = shard_is_full(strategy) ? (uint64_t)unit_bytes : 0;
    uint64_t fixed = SHARD_CONTEXT_BYTES + unit;
    return gpu_bytes > fixed ? (gpu_bytes - fixed) / (PARTS + 1) * PARTS : 0;
}
