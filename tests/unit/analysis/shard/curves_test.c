/* The curves of all ranks: which ranks share one, and that none is missing. */
#include "analysis/shard/curves.h"

#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

#define MOST 16

static struct by_hand hand;
static struct shard_result result;
static struct shard_curve_group groups[MOST];
static size_t group_count;

static bool take(void *self, const struct shard_curve_group *group, struct error *err)
{
    (void)self;
    if (group_count == MOST)
        return error_set(err, STATUS_LIMIT, "enough");
    const struct shard_columns *columns = group->columns;
    int64_t most = 0;
    for (size_t i = 0; i < columns->count; i++)
        if (most < shard_memory_sum(&columns->columns[i].memory))
            most = shard_memory_sum(&columns->columns[i].memory);
    ck_assert_int_eq(most, shard_memory_sum(&group->peak->memory));
    for (uint32_t rank = group->first_rank; rank <= group->last_rank; rank++)
        ck_assert_int_eq(most, result.ranks[rank].peak_bytes);
    groups[group_count++] = *group;
    return true;
}

static void begin(int64_t world)
{
    const struct shard_sizes sizes = {
        .elements = 40 * LAYERS, .activation_bytes = 4000, .element_size = 4, .layers = LAYERS};
    by_hand_begin_with(&hand, &sizes);
    hand.options.world = world;
}

static void make(enum shard_strategy strategy)
{
    struct error err;
    group_count = 0;
    ck_assert(shard_predict(&hand.model, &hand.options, strategy, true, &result, &err));
    ck_assert_msg(shard_curves_each(&hand.model, &hand.options, &result, take, NULL, &err), "%s",
                  err.text);
    shard_result_release(&result);
}

static void check_group(size_t group, uint32_t first, uint32_t last)
{
    ck_assert_uint_lt(group, group_count);
    ck_assert_uint_eq(groups[group].first_rank, first);
    ck_assert_uint_eq(groups[group].last_rank, last);
}

START_TEST(equal_ranks_share_a_curve)
{
    begin(3);
    make(SHARD_DDP);
    ck_assert_uint_eq(group_count, 1);
    check_group(0, 0, 2);
    make(SHARD_ZERO); /* four tensors: two of them for rank 0 */
    ck_assert_uint_eq(group_count, 2);
    check_group(0, 0, 0);
    check_group(1, 1, 2);
    by_hand_end(&hand);
}
END_TEST

START_TEST(ranks_without_rows)
{
    begin(8);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.tensors[i].rows = 5; /* a row each for five ranks */
    make(SHARD_FSDP2);
    ck_assert_uint_eq(group_count, 2);
    check_group(0, 0, 4);
    check_group(1, 5, 7);
    by_hand_end(&hand);
}
END_TEST

/* SDP keeps the gradients of the owner's tensors, so two ranks with as many elements differ in when
 * they have them. */
START_TEST(equal_sizes_at_other_times)
{
    begin(2);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.tensors[i].elements = i < 2 ? 10 : 40;
    make(SHARD_SDP);
    ck_assert_uint_eq(group_count, 2);
    check_group(0, 0, 0);
    check_group(1, 1, 1);
    by_hand_end(&hand);
}
END_TEST

START_TEST(taker_fails)
{
    struct error err;
    begin(2);
    ck_assert(shard_predict(&hand.model, &hand.options, SHARD_DDP, true, &result, &err));
    group_count = MOST;
    ck_assert(!shard_curves_each(&hand.model, &hand.options, &result, take, NULL, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    shard_result_release(&result);
    by_hand_end(&hand);
}
END_TEST

TCase *shard_curves_tests(void)
{
    TCase *tcase = tcase_create("curves of shard");
    tcase_add_test(tcase, equal_ranks_share_a_curve);
    tcase_add_test(tcase, ranks_without_rows);
    tcase_add_test(tcase, equal_sizes_at_other_times);
    tcase_add_test(tcase, taker_fails);
    return tcase;
}
