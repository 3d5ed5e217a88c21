/* The columns of a curve against the curve itself. */
#include "analysis/shard/columns.h"

#include <string.h>

#include "unit/analysis/analysis.h"

#define MOST 30000

static struct shard_moment curve[MOST];
static size_t moments;

static void take(void *self, const struct shard_moment *moment)
{
    (void)self;
    ck_assert_uint_lt(moments, MOST);
    curve[moments++] = *moment;
}

/* Each column is one of its own moments, and no other of them is higher. */
static void check_columns(const struct shard_columns *made)
{
    ck_assert_uint_eq(made->moments, moments);
    ck_assert_uint_eq(made->count, moments < SHARD_COLUMNS ? moments : SHARD_COLUMNS);
    for (size_t i = 0, at = 0; i < made->count; i++) {
        const struct shard_moment *column = &made->columns[i];
        bool found = false;
        for (; at < moments && at * made->count / moments == i; at++) {
            ck_assert_int_le(shard_memory_sum(&curve[at].memory),
                             shard_memory_sum(&column->memory));
            found = found || memcmp(&curve[at], column, sizeof(*column)) == 0;
        }
        ck_assert(found);
    }
}

static void check_layers(uint32_t layers)
{
    static struct shard_columns made;
    struct error err;
    struct budget budget = {.limit = 1 << 24};
    struct shard_model model;
    struct shard_options options;
    const struct shard_sizes sizes = {.elements = layers * 10,
                                      .activation_bytes = 4000 * (int64_t)layers,
                                      .element_size = 4,
                                      .layers = layers};
    shard_model_init(&model, &budget);
    ck_assert_msg(shard_model_by_hand(&model, &sizes, &err), "%s", err.text);
    shard_options_init(&options);
    options.world = 2;
    for (int strategy = 0; strategy < SHARD_STRATEGIES; strategy++) {
        moments = 0;
        ck_assert(
            shard_curve(&model, &options, (enum shard_strategy)strategy, 1, take, NULL, &err));
        ck_assert(
            shard_columns_make(&made, &model, &options, (enum shard_strategy)strategy, 1, &err));
        check_columns(&made);
    }
    shard_model_release(&model);
    ck_assert_uint_eq(budget.used, 0);
}

START_TEST(short_curves_are_kept_whole)
{
    check_layers(4);
}
END_TEST

START_TEST(long_curves_keep_their_highest_moments)
{
    check_layers(1000);
    ck_assert_uint_gt(moments, SHARD_COLUMNS);
}
END_TEST

TCase *shard_columns_tests(void)
{
    TCase *tcase = tcase_create("columns of shard");
    tcase_add_test(tcase, short_curves_are_kept_whole);
    tcase_add_test(tcase, long_curves_keep_their_highest_moments);
    return tcase;
}
