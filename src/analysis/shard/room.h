/* The memory of a GPU that a program needs in addition to its active memory. */
#ifndef MEMSNAP_ANALYSIS_SHARD_ROOM_H
#define MEMSNAP_ANALYSIS_SHARD_ROOM_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

/* Of the GPU, as `memsnap dryrun` assumes it. */
#define SHARD_CONTEXT_BYTES (UINT64_C(512) << 20)

/* Bytes of the model's largest unit, gathered in the type of the computation. False, with an error,
 * only if memory runs out. */
bool shard_find_largest_unit(const struct shard_model *model, const struct shard_options *options,
                             int64_t *bytes, struct error *err);

/* The highest peak of active memory that a GPU of `gpu_bytes` has room for under a strategy, or 0.
 * `unit_bytes` is what shard_find_largest_unit() tells. */
uint64_t shard_usable_bytes(enum shard_strategy strategy, int64_t unit_bytes, uint64_t gpu_bytes);

#endif
