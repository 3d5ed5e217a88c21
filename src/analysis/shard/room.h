/* The memory of a GPU that a program needs in addition to its active memory. */
#ifndef MEMSNAP_ANALYSIS_SHARD_ROOM_H
#define MEMSNAP_ANALYSIS_SHARD_ROOM_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

/* Of the GPU, as `memsnap dryrun` assumes it. */
#define SHARD_CONTEXT_BYTES (UINT64_C(512) << 20)

/* The sizes in a model that this memory depends on. */
struct shard_room {
    int64_t unit_bytes;   /* of the largest unit, gathered in the type of the computation */
    int64_t tensor_bytes; /* of the largest tensor that a batch enlarges, as recorded */
};

/* False, with an error, only if memory runs out. */
bool shard_room_find(struct shard_room *room, const struct shard_model *model,
                     const struct shard_options *options, struct error *err);

/* The highest peak of active memory that a GPU of `gpu_bytes` has room for under a strategy, or 0,
 * with `batch` times the recorded batch. */
uint64_t shard_usable_bytes(enum shard_strategy strategy, const struct shard_room *room,
                            double batch, uint64_t gpu_bytes);

#endif
