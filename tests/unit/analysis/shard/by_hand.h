/* A model of equal layers, of sizes that tests can work out by hand, and predictions for it. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_SHARD_BY_HAND_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_SHARD_BY_HAND_H

#include "analysis/shard/shard.h"

#define LAYERS   4
#define ELEMENTS 10                      /* of a layer */
#define LAYER    (4 * (int64_t)ELEMENTS) /* bytes */
#define ALL      (LAYERS * LAYER)        /* bytes of parameters */
#define MIB      (INT64_C(1) << 20)

struct by_hand {
    struct budget budget;
    struct shard_model model;
    struct shard_options options; /* for two ranks, until a test sets others */
};

/* A model with that many bytes of activations. */
void by_hand_begin(struct by_hand *hand, int64_t activations);
void by_hand_begin_with(struct by_hand *hand, const struct shard_sizes *sizes);
/* Releases the model, and checks that nothing of it is left. */
void by_hand_end(struct by_hand *hand);

/* What a strategy predicts for a rank. Checks that its parts add up. */
struct shard_rank by_hand_predict(const struct by_hand *hand, enum shard_strategy strategy,
                                  uint32_t rank);
/* Checks the peaks of the first two ranks. */
void by_hand_peaks(const struct by_hand *hand, enum shard_strategy strategy, int64_t wanted);

/* A callback of shard_curve() that leaves the last moment, the end of the optimizer's step, in the
 * struct shard_moment `self`. */
void by_hand_take_last(void *self, const struct shard_moment *moment);

#endif
