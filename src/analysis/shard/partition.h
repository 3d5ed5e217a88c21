/* Which rank updates which parameters. */
#ifndef MEMSNAP_ANALYSIS_SHARD_PARTITION_H
#define MEMSNAP_ANALYSIS_SHARD_PARTITION_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

/* Fills owners[tensor_count] as the library of the strategy does: whole tensors, each to the rank
 * with the fewest elements so far, the lowest of several. FairScale's OSS takes them in order,
 * ZeroRedundancyOptimizer by falling size. Frozen tensors have owners, too; OSS counts each as one
 * element. */
bool shard_partition(const struct shard_model *model, enum shard_strategy strategy, int64_t world,
                     uint32_t *owners, struct error *err);

#endif
