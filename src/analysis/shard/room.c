#include "analysis/shard/room.h"

#include <stdlib.h>

#define PARTS 5 /* rounding and fragmentation in the allocator take 1/PARTS of the peak */
#define HOLES 2 /* or as many of the largest tensors */

static bool find_largest_unit(const struct shard_model *model, int64_t *most, struct error *err)
{
    int64_t *elements = calloc(model->unit_count, sizeof(*elements));
    if (!elements)
        return error_out_of_memory(err);
    for (size_t i = 0; i < model->tensor_count; i++) {
        int64_t *sum = &elements[model->tensors[i].unit];
        *sum += model->tensors[i].elements;
        if (*sum > *most)
            *most = *sum;
    }
    free(elements);
    return true;
}

bool shard_room_find(struct shard_room *room, const struct shard_model *model,
                     const struct shard_options *options, struct error *err)
{
    int64_t elements = 0;
    if (!find_largest_unit(model, &elements, err))
        return false;
    room->unit_bytes = elements * (options->compute_size > 0     ? options->compute_size
                                   : options->parameter_size > 0 ? options->parameter_size
                                                                 : model->element_size);
    room->tensor_bytes = model->tensor_bytes;
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].output > room->tensor_bytes)
            room->tensor_bytes = model->layers[i].output;
    return true;
}

/* A gathered unit, because what is cached for the stream of the communication serves no other one.
 * A tensor needs free memory in one piece: where smaller ones lie between, there may be nearly as
 * much as it takes, and the same again for its gradient. */
uint64_t shard_usable_bytes(enum shard_strategy strategy, const struct shard_room *room,
                            double batch, uint64_t gpu_bytes)
{
    uint64_t unit = shard_is_full(strategy) ? (uint64_t)room->unit_bytes : 0;
    uint64_t fixed = SHARD_CONTEXT_BYTES + unit;
    if (gpu_bytes <= fixed)
        return 0;
    uint64_t left = gpu_bytes - fixed, parts = left / (PARTS + 1) * PARTS;
    double holes = HOLES * (double)room->tensor_bytes * batch;
    uint64_t whole = holes < (double)left ? left - (uint64_t)holes : 0;
    return parts < whole ? parts : whole;
}
