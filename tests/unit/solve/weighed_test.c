/* Costs by the classes of operators. */
#include "solve/problem/weighed.h"
#include "unit/solve/solve.h"

static const struct weighed_sum whole = {1000, 100};

static int64_t cost(double from_weight, double from_bytes, double to_weight, double to_bytes)
{
    return weighed_cost((struct weighed_sum){from_weight, from_bytes},
                        (struct weighed_sum){to_weight, to_bytes}, whole);
}

/* Weights decide before bytes do, and bytes can be told. */
START_TEST(weights_decide)
{
    int64_t costly = cost(0, 0, 400, 10), cheap = cost(400, 10, 450, 60);
    ck_assert_int_gt(costly, cheap);
    ck_assert_double_eq_tol(weighed_share(costly), 0.1, 1e-4);
    ck_assert_double_eq_tol(weighed_share(cheap), 0.5, 1e-4);
    ck_assert_double_eq_tol(weighed_share(costly + cheap), 0.6, 1e-4);
    ck_assert(weighed_is_cheap(cheap, whole));
    ck_assert(!weighed_is_cheap(costly, whole));
}
END_TEST

START_TEST(neighbours_add_up)
{
    int64_t sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += cost(i, 0.1 * i, i + 1, 0.1 * (i + 1));
    ck_assert_int_eq(sum, cost(0, 0, 1000, 100));
    ck_assert_double_eq_tol(weighed_share(sum), 1, 1e-4);
    ck_assert_double_eq_tol(weighed_share(40 * sum), 40, 1e-2);
}
END_TEST

START_TEST(parts_are_taken_off)
{
    int64_t layer = cost(0, 0, 300, 30), part = cost(0, 0, 200, 10);
    ck_assert_int_eq(weighed_less(layer, 0), layer);
    ck_assert_int_eq(weighed_less(layer, layer), 0);
    ck_assert_double_eq_tol(weighed_share(weighed_less(layer, part)), 0.2, 1e-4);
    ck_assert_double_eq_tol(weighed_share(weighed_less(part, cost(0, 0, 100, 50))), 0, 1e-4);
}
END_TEST

TCase *weighed_tests(void)
{
    TCase *tests = tcase_create("weighed");
    tcase_add_test(tests, weights_decide);
    tcase_add_test(tests, neighbours_add_up);
    tcase_add_test(tests, parts_are_taken_off);
    return tests;
}
