#include "unit/analysis/shard/by_hand.h"

#include "unit/analysis/analysis.h"

void by_hand_begin_with(struct by_hand *hand, const struct shard_sizes *sizes)
{
    struct error err;
    hand->budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&hand->model, &hand->budget);
    ck_assert_msg(shard_model_by_hand(&hand->model, sizes, &err), "%s", err.text);
    ck_assert_msg(shard_model_check(&hand->model, &err), "%s", err.text);
    shard_options_init(&hand->options);
    hand->options.world = 2;
}

void by_hand_begin(struct by_hand *hand, int64_t activations)
{
    const struct shard_sizes sizes = {.elements = LAYERS * ELEMENTS,
                                      .activation_bytes = activations,
                                      .element_size = 4,
                                      .layers = LAYERS};
    by_hand_begin_with(hand, &sizes);
}

void by_hand_end(struct by_hand *hand)
{
    shard_model_release(&hand->model);
    ck_assert_uint_eq(hand->budget.used, 0);
}

struct shard_rank by_hand_predict(const struct by_hand *hand, enum shard_strategy strategy,
                                  uint32_t rank)
{
    struct shard_result result;
    struct error err;
    ck_assert_msg(shard_predict(&hand->model, &hand->options, strategy, true, &result, &err), "%s",
                  err.text);
    ck_assert_uint_eq(result.rank_count, (size_t)hand->options.world);
    struct shard_rank found = result.ranks[rank];
    ck_assert_uint_eq(found.rank, rank);
    ck_assert_int_eq(shard_memory_sum(&found.at_peak), found.peak_bytes);
    ck_assert_int_le(found.peak_bytes, result.peak_bytes);
    shard_result_release(&result);
    return found;
}

void by_hand_peaks(const struct by_hand *hand, enum shard_strategy strategy, int64_t wanted)
{
    for (uint32_t rank = 0; rank < 2; rank++)
        ck_assert_int_eq(by_hand_predict(hand, strategy, rank).peak_bytes, wanted);
}

void by_hand_take_last(void *self, const struct shard_moment *moment)
{
    *(struct shard_moment *)self = *moment;
}
