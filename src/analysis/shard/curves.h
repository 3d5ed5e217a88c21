/* The curves of all ranks along the step. */
#ifndef MEMSNAP_ANALYSIS_SHARD_CURVES_H
#define MEMSNAP_ANALYSIS_SHARD_CURVES_H

#include "analysis/shard/columns.h"

/* Different curves of a strategy: 256 columns of each are some megabytes of output. */
#define SHARD_MOST_CURVES 256

/* Neighbouring ranks whose curves are equal. */
struct shard_curve_group {
    uint32_t first_rank, last_rank;
    const struct shard_columns *columns;
    const struct shard_moment *peak; /* the highest column */
};

typedef bool shard_group_taker(void *self, const struct shard_curve_group *group,
                               struct error *err);

/* Hands out the curves of the ranks of a result, in ascending order, up to SHARD_MOST_CURVES. The
 * taker returns false after setting the error, which ends the iteration. */
bool shard_curves_each(const struct shard_model *model, const struct shard_options *options,
                       const struct shard_result *result, shard_group_taker *take, void *self,
                       struct error *err);

#endif
