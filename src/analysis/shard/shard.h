/* Predicts the memory of every rank along a training step, and its traffic, under a strategy.
 *
 * The walk goes through the points of the model: forward, backward, then the optimizer step. At
 * each it adds up what the strategy holds: parameters, gathered and sharded, gradients so far,
 * optimizer state, and buffers of the communication. It is the second step or a later one:
 * optimizer state exists, buckets are made. Sizes are requested bytes, as in active memory. */
#ifndef MEMSNAP_ANALYSIS_SHARD_SHARD_H
#define MEMSNAP_ANALYSIS_SHARD_SHARD_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

enum shard_phase {
    SHARD_FORWARD,
    SHARD_BACKWARD,
    SHARD_RECOMPUTATION, /* forward in the backward of a checkpoint */
    SHARD_REDUCTION,     /* at the end of a unit's backward */
    SHARD_STEP,          /* of the optimizer */
};

const char *shard_phase_name(enum shard_phase phase);

struct shard_memory {
    int64_t parameter_bytes, gradient_bytes, optimizer_state_bytes, activation_bytes, buffer_bytes;
};

static inline int64_t shard_memory_sum(const struct shard_memory *memory)
{
    return memory->parameter_bytes + memory->gradient_bytes + memory->optimizer_state_bytes +
           memory->activation_bytes + memory->buffer_bytes;
}

struct shard_rank {
    uint32_t rank;
    int64_t peak_bytes;
    int64_t first_peak_bytes;     /* what the first step may take, if that is more; else 0 */
    struct shard_memory at_peak;  /* adds up to peak_bytes */
    int64_t held_parameter_bytes; /* between steps */
    int64_t held_state_bytes;
    int64_t host_bytes;
    enum shard_phase peak_phase;
    uint32_t peak_unit; /* of the model */
};

enum shard_collective {
    SHARD_ALL_REDUCE,
    SHARD_REDUCE,
    SHARD_BROADCAST,
    SHARD_ALL_GATHER,
    SHARD_REDUCE_SCATTER,
    SHARD_COLLECTIVES,
};

const char *shard_collective_name(enum shard_collective collective); /* "all_reduce", ... */

/* What one rank sends in a step; ring algorithms. */
struct shard_traffic {
    int64_t bytes[SHARD_COLLECTIVES], calls[SHARD_COLLECTIVES];
    double us; /* with bandwidth or latency */
};

int64_t shard_traffic_sum(const struct shard_traffic *traffic);

/* One value of the curve of a rank. */
struct shard_moment {
    enum shard_phase phase;
    uint32_t unit;
    size_t point; /* of the model; their number: after backward */
    struct shard_memory memory;
    int64_t growing_bytes; /* the part of activations that the factor of the batch multiplies */
    int64_t limited_bytes; /* and the part that it multiplies until there are limit_bytes */
    int64_t limit_bytes;
    int64_t main_gradient_bytes; /* the part of gradients that the optimizer keeps in float32 */
};

/* The growing and the limited bytes of a moment if the batch is `batch` times as large as the
 * recorded one. */
int64_t shard_enlarged(const struct shard_moment *moment, double batch);

/* How much more the first step may take at a moment: until its first gradient is reduced,
 * ShardedDataParallel holds the parameters twice. The optimizer has no state yet. 0 for the other
 * strategies. */
int64_t shard_first_step_more(enum shard_strategy strategy, const struct shard_moment *moment);

struct shard_result {
    enum shard_strategy strategy;
    int64_t peak_bytes; /* of the rank with the highest */
    uint32_t peak_rank;
    struct shard_rank *ranks; /* malloc'ed; all of them, or only peak_rank */
    size_t rank_count;
    struct shard_traffic traffic;
};

/* Predicts all ranks, or only the one that holds most between steps, which is faster. */
bool shard_predict(const struct shard_model *model, const struct shard_options *options,
                   enum shard_strategy strategy, bool all_ranks, struct shard_result *result,
                   struct error *err);
void shard_result_release(struct shard_result *result); /* a zeroed result is allowed */

typedef void shard_moment_taker(void *self, const struct shard_moment *moment);

/* Hands out the curve of one rank. */
bool shard_curve(const struct shard_model *model, const struct shard_options *options,
                 enum shard_strategy strategy, uint32_t rank, shard_moment_taker *take, void *self,
                 struct error *err);

#endif
