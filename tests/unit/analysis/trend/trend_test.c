#include "analysis/trend/trend.h"

#include "unit/analysis/analysis.h"

#define MOST_POINTS 12

/* A trend of these values; -1: the run lacks the metric. */
static struct trend make(struct trend_point points[MOST_POINTS], const int64_t *values,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        points[i] = (struct trend_point){
            .run = (int64_t)i + 1, .is_known = values[i] >= 0, .value = values[i]};
    return (struct trend){.metric = "peak_active", .points = points, .count = count};
}

static struct trend_jump judge(const int64_t *values, size_t count, size_t most)
{
    static struct trend_point points[MOST_POINTS];
    struct trend trend = make(points, values, count);
    struct trend_jump jump;
    struct error err;
    ck_assert(trend_judge(&trend, most, &jump, &err));
    return jump;
}

START_TEST(the_newest_is_compared_with_the_median)
{
    const int64_t values[] = {100, 900, 300, 200, 400};
    struct trend_jump jump = judge(values, 5, 0);
    ck_assert_int_eq(jump.newest->run, 5);
    ck_assert_int_eq(jump.usual->value, 200); /* the lower of 200 and 300 */
    ck_assert_uint_eq(jump.compared, 4);
    jump = judge(values, 5, 3);
    ck_assert_int_eq(jump.usual->value, 300);
    ck_assert_uint_eq(jump.compared, 3);
}
END_TEST

START_TEST(few_runs_are_not_judged)
{
    const int64_t values[] = {100, 100, 500}, unknown[] = {1, -1, 2, -1, 3}, last[] = {1, 2, 3, -1};
    ck_assert_ptr_null(judge(values, 3, 0).usual);
    ck_assert_uint_eq(judge(values, 3, 0).compared, 2);
    ck_assert_ptr_null(judge(unknown, 5, 0).usual);
    ck_assert_ptr_null(judge(last, 4, 0).usual);
    ck_assert_ptr_null(judge(values, 0, 0).newest);
    ck_assert_ptr_null(judge(values, 3, 1).usual);
}
END_TEST

START_TEST(earlier_runs_are_judged_by_those_before)
{
    const int64_t values[] = {100, 100, 100, 500, 900};
    struct trend_point points[MOST_POINTS];
    struct trend trend = make(points, values, 5);
    struct trend_jump jump;
    struct error err;
    ck_assert(trend_judge_at(&trend, 3, 0, &jump, &err));
    ck_assert_int_eq(jump.newest->run, 4);
    ck_assert_int_eq(jump.usual->value, 100);
    ck_assert_uint_eq(jump.compared, 3);
    ck_assert(trend_judge_at(&trend, 0, 0, &jump, &err));
    ck_assert_ptr_null(jump.usual);
}
END_TEST

START_TEST(what_grew_is_ordered)
{
    struct trend_share before[] = {{{"a", 1}, 10}, {{"b", 1}, 50}, {{"d", 1}, 7}};
    struct trend_share after[] = {{{"a", 1}, 30}, {{"b", 1}, 40}, {{"c", 1}, 25}, {{"d", 1}, 8}};
    const struct trend_shares old = {before, 3, 3}, new = {after, 4, 4};
    struct trend_share grown[2];
    ck_assert_uint_eq(trend_grown(&old, &new, grown, 2), 2);
    ck_assert_str_eq(grown[0].name.bytes, "c");
    ck_assert_int_eq(grown[0].bytes, 25);
    ck_assert_str_eq(grown[1].name.bytes, "a");
    ck_assert_int_eq(grown[1].bytes, 20);
    ck_assert_uint_eq(trend_grown(&new, &old, grown, 2), 1);
    ck_assert_uint_eq(trend_grown(&old, &old, grown, 2), 0);
}
END_TEST

TCase *trend_tests(void)
{
    TCase *tests = tcase_create("trend");
    tcase_add_test(tests, the_newest_is_compared_with_the_median);
    tcase_add_test(tests, few_runs_are_not_judged);
    tcase_add_test(tests, earlier_runs_are_judged_by_those_before);
    tcase_add_test(tests, what_grew_is_ordered);
    return tests;
}
