/* Classification of a series of sizes as growing, steady or unclear. */
#include "analysis/growth/fit.h"
#include "unit/analysis/analysis.h"

#define MANY 100

/* Fits `count` sizes; the allocations are as many as given. */
static struct growth_fit fit_of(size_t count, const int64_t *bytes, const uint32_t *blocks)
{
    struct growth_series series = {.count = count};
    struct growth_fit fit;
    for (size_t k = 0; k < count; k++) {
        series.bytes[k] = bytes[k];
        series.blocks[k] = blocks ? blocks[k] : (uint32_t)k;
    }
    growth_fit(&series, &fit);
    return fit;
}

#define FIT(...)                                                                                   \
    fit_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, NULL)

static const uint32_t same_blocks[MANY];

START_TEST(what_grows_at_every_step)
{
    struct growth_fit fit = FIT(10, 20, 30, 40, 50);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, 10);
    ck_assert_uint_eq(fit.steps_grown, 4);
    ck_assert_uint_eq(fit.steps_compared, 4);
    ck_assert(fit.r_squared > 0.999);
    ck_assert_int_eq(fit.confidence, CONFIDENCE_HIGH);
    ck_assert(!fit.replaced);
}
END_TEST

START_TEST(few_steps_are_little_evidence)
{
    ck_assert_int_eq(FIT(10, 20).kind, GROWTH_UNCLEAR);
    struct growth_fit fit = FIT(10, 20, 30);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.confidence, CONFIDENCE_LOW);
    ck_assert_int_eq(FIT(10, 20, 30, 40).confidence, CONFIDENCE_MEDIUM);
    ck_assert_int_eq(FIT(10, 10, 20).kind, GROWTH_UNCLEAR);
}
END_TEST

START_TEST(one_odd_step_does_not_count)
{
    struct growth_fit fit = FIT(10, 12, 14, 94, 96, 98, 100);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, 2);
    ck_assert_int_ne(fit.confidence, CONFIDENCE_HIGH);
    fit = FIT(10, 12, 12, 14, 16); /* the median of 0 2 2 2 */
    ck_assert_int_eq(fit.bytes_per_step, 2);
}
END_TEST

/* A token in most steps, a prompt in some. Prompts in the first half may not come again. */
START_TEST(odd_steps_that_come_again_count)
{
    struct growth_fit fit = FIT(10, 12, 92, 94, 96, 176, 178, 180, 260, 262, 264);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, 25);
    fit = FIT(10, 90, 170, 250, 252, 254, 256, 258, 260, 262, 264);
    ck_assert_int_eq(fit.bytes_per_step, 2);
}
END_TEST

START_TEST(growth_now_and_then)
{
    struct growth_fit fit = FIT(0, 0, 30, 30, 30, 60, 60, 60, 90, 90);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_uint_eq(fit.steps_grown, 3);
    ck_assert_int_eq(fit.bytes_per_step, 10);
}
END_TEST

START_TEST(caches_stop)
{
    ck_assert_int_eq(FIT(10, 20, 30, 30, 30).kind, GROWTH_STOPPED);
    ck_assert_int_eq(FIT(10, 20, 30, 30).kind, GROWTH_GROWING); /* too early to tell */
    ck_assert_int_eq(FIT(10, 10, 30, 30, 30).kind, GROWTH_UNCLEAR);
    ck_assert_int_eq(FIT(10, 10, 30, 30, 30, 30).kind, GROWTH_STOPPED);
}
END_TEST

START_TEST(two_buffers_in_turn_are_no_cache)
{
    struct growth_series series = {
        .count = 5, .bytes = {10, 20, 20, 20, 20}, .blocks = {1, 2, 2, 2, 2}, .freed = 3};
    struct growth_fit fit;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_VARYING);
    series.freed = 0;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_STOPPED);
}
END_TEST

/* A cache of five entries frees the oldest one for each that it adds. */
START_TEST(caches_with_a_limit_stop)
{
    struct growth_series series = {.count = 8,
                                   .bytes = {10, 20, 30, 40, 50, 50, 50, 50},
                                   .blocks = {1, 2, 3, 4, 5, 5, 5, 5},
                                   .freed = 3};
    struct growth_fit fit;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_STOPPED);
    series.bytes[6] = series.bytes[7] = 48; /* of other sizes */
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_VARYING);
}
END_TEST

START_TEST(up_and_down)
{
    ck_assert_int_eq(FIT(10, 30, 20, 40, 10).kind, GROWTH_VARYING);
    ck_assert_int_eq(FIT(50, 40, 30, 20, 10).kind, GROWTH_VARYING);
    struct growth_fit fit = FIT(100, 200, 195, 300, 400); /* hardly down */
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, 100);
}
END_TEST

START_TEST(larger_ones_in_place_of_smaller)
{
    static const int64_t bytes[] = {10, 20, 30, 40, 50, 60};
    struct growth_fit fit = fit_of(6, bytes, same_blocks);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert(fit.replaced);
    ck_assert_int_eq(fit_of(4, bytes, same_blocks).kind, GROWTH_UNCLEAR); /* chance */
    static const int64_t uneven[] = {10, 11, 12, 13, 14, 500};
    ck_assert_int_eq(fit_of(6, uneven, same_blocks).kind, GROWTH_UNCLEAR);
}
END_TEST

/* As a cache of keys and values, which begins with the whole prompt. */
START_TEST(a_large_start_hides_no_steady_growth)
{
    static const int64_t bytes[] = {0, 400, 402, 404, 406, 408, 410, 412, 414};
    static const uint32_t blocks[] = {0, 8, 16, 16, 16, 16, 16, 16, 16};
    struct growth_fit fit = fit_of(9, bytes, blocks);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, 2);
    ck_assert_int_eq(fit.confidence, CONFIDENCE_HIGH);
    ck_assert(fit.replaced);
}
END_TEST

START_TEST(what_does_not_change)
{
    struct growth_series series = {.count = 3, .bytes = {7, 7, 7}};
    struct growth_fit fit;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_ONE_OFF);
    series.before_bytes = 7;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_CONSTANT);
    ck_assert_int_eq(fit.bytes_per_step, 0);
    series.count = 1;
    growth_fit(&series, &fit);
    ck_assert_int_eq(fit.kind, GROWTH_CONSTANT);
}
END_TEST

START_TEST(the_largest_sizes)
{
    const int64_t most = (int64_t)1 << 62;
    struct growth_fit fit = FIT(0, most / 2, most);
    ck_assert_int_eq(fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(fit.bytes_per_step, most / 2);
    ck_assert_int_eq(FIT(0, most, 0, most).kind, GROWTH_VARYING);
}
END_TEST

TCase *growth_fit_tests(void)
{
    TCase *tests = tcase_create("growth of a series");
    tcase_add_test(tests, what_grows_at_every_step);
    tcase_add_test(tests, few_steps_are_little_evidence);
    tcase_add_test(tests, one_odd_step_does_not_count);
    tcase_add_test(tests, odd_steps_that_come_again_count);
    tcase_add_test(tests, growth_now_and_then);
    tcase_add_test(tests, caches_stop);
    tcase_add_test(tests, two_buffers_in_turn_are_no_cache);
    tcase_add_test(tests, caches_with_a_limit_stop);
    tcase_add_test(tests, up_and_down);
    tcase_add_test(tests, larger_ones_in_place_of_smaller);
    tcase_add_test(tests, a_large_start_hides_no_steady_growth);
    tcase_add_test(tests, what_does_not_change);
    tcase_add_test(tests, the_largest_sizes);
    return tests;
}
