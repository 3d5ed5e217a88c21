/* All strategies side by side, and the one to use. */
#ifndef MEMSNAP_ANALYSIS_SHARD_CHOICE_H
#define MEMSNAP_ANALYSIS_SHARD_CHOICE_H

#include "analysis/shard/room.h"
#include "analysis/shard/shard.h"
#include "analysis/shard/stops.h"

/* What a step with checkpoints computes again. */
struct shard_extra {
    double share; /* of the compute time of a step; if that is not known, of all activations */
    bool is_time;
    double flops_share; /* of the floating-point operations of a step; negative: not known */
};

struct shard_row {
    struct shard_result result;
    bool is_checkpointed;
    bool is_known_to_fit; /* a GPU was given */
    bool fits;            /* the peak of active memory is not larger than the GPU */
    bool has_room;        /* fits, and leaves what room.h tells */
    int64_t least_bytes;  /* fsdp2: the peak without padding, if rows are unknown; else 0 */
    int64_t most_bytes;   /* the same if parameters have as few rows as they may */
    uint32_t early_rank;  /* sdp: the rank whose peak is lowered most if reductions take no time, */
    int64_t early_bytes;  /* and that peak; 0: no rank's */
    struct shard_extra extra; /* only if it is checkpointed */
};

#define SHARD_MOST_ROWS (2 * SHARD_STRATEGIES)

enum shard_reason {
    SHARD_NO_GPU,     /* nothing to recommend */
    SHARD_SIMPLEST,   /* DDP has room */
    SHARD_ONLY_RANK,  /* there is one, and the row has room */
    SHARD_LEAST_COST, /* the cheapest that has room */
    SHARD_MOST_ROOM,  /* none has room; of those that fit, it leaves the most */
    SHARD_NONE_FITS,  /* `row` is the one with the least memory */
};

struct shard_choice {
    struct shard_row rows[SHARD_MOST_ROWS];
    size_t count;
    uint64_t gpu_bytes; /* 0: none given */
    enum shard_reason reason;
    size_t row;   /* that the reason is about */
    size_t tight; /* a cheaper row that fits without room, or their number */
    struct shard_room room;
    bool is_stateless; /* the optimizer has no state, so zero and oss save nothing */
    bool mixes_units;  /* some units have trained and frozen parameters */
    enum shard_stop stops[SHARD_STRATEGIES];
    bool divides[SHARD_STRATEGIES]; /* see shard_divides() */
    const struct shard_options *options;
    const struct shard_optimizer *optimizer;
};

/* The rows of a model; `checkpointed` is the same step with checkpoints, or NULL, and `extra` what
 * these compute again. */
bool shard_choose(struct shard_choice *choice, const struct shard_model *model,
                  const struct shard_model *checkpointed, const struct shard_extra *extra,
                  const struct shard_options *options, uint64_t gpu_bytes, struct error *err);
/* False if the strategy's code would stop. */
bool shard_choice_runs(const struct shard_choice *choice, enum shard_strategy strategy);
void shard_choice_release(struct shard_choice *choice);

/* Of strategies that cost the same, the lowest is recommended: the simplest, and torch's before
 * FairScale's, which is no longer maintained. */
unsigned shard_preference(enum shard_strategy strategy);

/* The row of a strategy without checkpoints. */
const struct shard_row *shard_choice_row(const struct shard_choice *choice,
                                         enum shard_strategy strategy);

#endif
