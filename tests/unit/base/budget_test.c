#include "base/budget.h"

#include <stdint.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "unit/base/base.h"

START_TEST(take_stops_at_the_limit)
{
    struct budget budget = {.limit = 100};
    struct error err = {0};
    ck_assert(budget_take(&budget, 60, &err));
    ck_assert(budget_take(&budget, 40, &err));
    ck_assert(budget_take(&budget, 0, &err));
    ck_assert(!budget_take(&budget, 1, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_eq(budget.used, 100);
    budget_give(&budget, 30);
    ck_assert(budget_take(&budget, 30, &err));
}
END_TEST

START_TEST(a_quarter_used_is_ample)
{
    struct budget budget = {.limit = 100};
    struct error err = {0};
    ck_assert(budget_take(&budget, 25, &err));
    ck_assert(budget_is_ample(&budget));
    ck_assert(budget_take(&budget, 1, &err));
    ck_assert(!budget_is_ample(&budget));
}
END_TEST

START_TEST(take_does_not_wrap)
{
    struct budget budget = {.limit = SIZE_MAX};
    struct error err = {0};
    ck_assert(budget_take(&budget, 10, &err));
    ck_assert(!budget_take(&budget, SIZE_MAX, &err));
    ck_assert_uint_eq(budget.used, 10);
}
END_TEST

START_TEST(refusal_names_the_limit)
{
    struct budget budget = {.limit = 3 << 20};
    struct error err = {0};
    ck_assert(!budget_take(&budget, 4 << 20, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "3.00 MiB"));
}
END_TEST

START_TEST(vec_keeps_items_and_counts_capacity)
{
    struct budget budget = {.limit = 1 << 20};
    struct error err = {0};
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert(vec_grow((void **)&items, &capacity, i + 1, sizeof(*items), &budget, &err));
        ck_assert_uint_gt(capacity, i);
        ck_assert_uint_eq(budget.used, capacity * sizeof(*items));
        items[i] = i;
    }
    ck_assert_uint_lt(capacity, 2000);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(items[i], i);
    vec_free(items, capacity, sizeof(*items), &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(push_appends_as_far_as_there_is_room)
{
    struct point {
        int x, y;
    } *points = NULL;
    struct budget budget = {.limit = 100 * sizeof(*points)};
    struct error err = {0};
    size_t count = 0, capacity = 0;
    int i = 0;
    while (vec_push(points, count, capacity, &budget, &err, (struct point){i, 2 * i}))
        i++;
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_uint_eq(count, (size_t)i);
    ck_assert_uint_ge(count, 50);
    ck_assert_int_eq(points[49].y, 98);
    vec_free(points, capacity, sizeof(*points), &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(vec_refusal_leaves_all_as_it_was)
{
    struct budget budget = {.limit = 4096};
    struct error err = {0};
    uint64_t *items = NULL;
    size_t capacity = 0;
    ck_assert(vec_grow((void **)&items, &capacity, 300, sizeof(*items), &budget, &err));
    uint64_t *before = items;
    ck_assert(!vec_grow((void **)&items, &capacity, 600, sizeof(*items), &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_ptr_eq(items, before);
    ck_assert_uint_eq(capacity, 300);
    ck_assert_uint_eq(budget.used, 2400);
    vec_free(items, capacity, sizeof(*items), &budget);
}
END_TEST

START_TEST(vec_checks_its_products)
{
    struct budget budget = {.limit = SIZE_MAX};
    struct error err = {0};
    void *items = NULL;
    size_t capacity = 0;
    ck_assert(!vec_grow(&items, &capacity, SIZE_MAX / 4, 16, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_ptr_null(items);
    ck_assert_uint_eq(budget.used, 0);
    vec_free(items, capacity, 16, &budget);
}
END_TEST

START_TEST(default_is_below_the_machine)
{
    struct sysinfo info;
    ck_assert_int_eq(sysinfo(&info), 0);
    size_t limit = budget_default_limit();
    ck_assert_uint_gt(limit, 0);
    ck_assert_uint_le(limit, (uint64_t)info.totalram * info.mem_unit / 4 * 3);
}
END_TEST

TCase *budget_tests(void)
{
    TCase *tests = tcase_create("budget");
    tcase_add_test(tests, take_stops_at_the_limit);
    tcase_add_test(tests, a_quarter_used_is_ample);
    tcase_add_test(tests, take_does_not_wrap);
    tcase_add_test(tests, refusal_names_the_limit);
    tcase_add_test(tests, vec_keeps_items_and_counts_capacity);
    tcase_add_test(tests, push_appends_as_far_as_there_is_room);
    tcase_add_test(tests, vec_refusal_leaves_all_as_it_was);
    tcase_add_test(tests, vec_checks_its_products);
    tcase_add_test(tests, default_is_below_the_machine);
    return tests;
}
