/* The largest batch that a GPU has room for under each strategy, for many numbers of ranks. */
#ifndef MEMSNAP_ANALYSIS_SHARD_SWEEP_H
#define MEMSNAP_ANALYSIS_SHARD_SWEEP_H

#include "analysis/fit/values.h"
#include "analysis/shard/shard.h"

struct shard_sweep_row {
    enum shard_strategy strategy;
    bool runs;      /* false: its code would stop, see stops.h */
    bool is_of_use; /* see shard_is_of_use() */
    bool is_checkpointed;
    uint64_t world;
    int64_t group;          /* fsdp*: ranks that share the parameters; others: all */
    uint64_t largest_batch; /* that leaves what room.h tells; 0: not even the smallest */
    int64_t peak_bytes;     /* with the largest batch; with the smallest one if that does not fit */
    bool is_last;           /* the largest batch is the last of the values */
    int64_t traffic_bytes;  /* a rank sends in a step, whatever the batch */
};

struct shard_sweep {
    const struct fit_values *worlds, *batches; /* not owned */
    uint64_t gpu_bytes;
    struct shard_sweep_row *rows; /* malloc'ed; by world, then without checkpoints first */
    size_t count;
    size_t each;            /* rows of a number of ranks */
    bool lacks_checkpoints; /* the input does not tell enough to predict them */
};

/* `checkpointed` is the same step with checkpoints, or NULL. A group that is larger than a number
 * of ranks is all of them.
 *
 * Values of a batch are factors of the recorded one. The placement of checkpoints with the least
 * memory is the same for all of them, because they multiply what all layers keep; so no batch needs
 * a solver, and one walk along the step finds the largest batch. STATUS_LIMIT if all walks would
 * take minutes. */
bool shard_sweep_make(struct shard_sweep *sweep, const struct shard_model *model,
                      const struct shard_model *checkpointed, const struct shard_options *options,
                      const struct fit_values *worlds, const struct fit_values *batches,
                      uint64_t gpu_bytes, struct error *err);
void shard_sweep_release(struct shard_sweep *sweep);

#endif
