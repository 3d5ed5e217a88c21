/* What each unit contributes to the memory of a rank: to its model states in the optimizer's step,
 * and to its peak.
 *
 * Of parameters, gradients, optimizer state and buffers, the contribution of a unit is what would
 * be missing without its tensors. So a bucket of FairScale's FullyShardedDataParallel, whose size
 * is fixed, belongs to the unit whose gradients made it. */
#ifndef MEMSNAP_ANALYSIS_SHARD_BY_UNIT_H
#define MEMSNAP_ANALYSIS_SHARD_BY_UNIT_H

#include "analysis/shard/shard.h"

struct shard_unit_row {
    uint32_t unit;               /* of the model */
    int64_t elements;            /* of its parameters, unsharded */
    struct shard_memory in_step; /* model states; no activations and buffers */
    struct shard_memory at_peak; /* activations: those that are kept for backward */
    bool is_unsharded;           /* the rank has all its parameters at the peak */
};

struct shard_by_unit {
    struct shard_unit_row *rows; /* malloc'ed; a row for each unit, in the order of the model */
    size_t count;
    struct shard_memory none; /* at the peak, of no unit: the rows and this add up to it */
    struct shard_moment peak;
};

/* STATUS_LIMIT if that would take minutes. */
bool shard_by_unit_make(struct shard_by_unit *table, const struct shard_model *model,
                        const struct shard_options *options, enum shard_strategy strategy,
                        uint32_t rank, struct error *err);
void shard_by_unit_release(struct shard_by_unit *table);

#endif
