/* Gradients that plain code puts in the place of others. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define ZEROS CPP("at::_ops::zeros_like::call(x)") "," PY("clear", "/home/u/util.py", 9) "," SCRIPT
#define LESS  CPP("at::_ops::sub::call(x)") "," PY("update", "/home/u/util.py", 19) "," SCRIPT

static enum category category_at(uint64_t addr)
{
    uint8_t reason;
    return capture_category_why(&capture, addr, &reason);
}

/* A step whose passes leave a gradient only if none is there yet. */
static void accumulate(uint64_t gradient)
{
    born(1, 100, STACK_FORWARD);
    born(gradient, 1000, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    if (gradient == 3)
        freed(3, 1000, ENGINE); /* added to the one that is there */
    born(5, 16, STACK_STEP);
    freed(5, 16, STACK_STEP);
}

/* Instead of zeroing gradients in place, a library sets them to new zeros after each step. */
START_TEST(zeros_may_replace_gradients)
{
    capture_block(&capture, 90, 1000, "");
    accumulate(2);
    born(10, 1000, ZEROS);
    freed(2, 1000, ZEROS);
    accumulate(3);
    born(11, 1000, ZEROS);
    freed(10, 1000, ZEROS);
    accumulate(3);
    born(12, 1000, ZEROS);
    freed(11, 1000, ZEROS);
    capture_load(&capture);
    for (uint64_t addr = 10; addr <= 12; addr++)
        ck_assert_int_eq(category_at(addr), CATEGORY_GRADIENT);
}
END_TEST

/* The next pass leaves a gradient of the new weight. */
START_TEST(weights_that_replace_gradients_are_no_gradients)
{
    capture_block(&capture, 90, 1000, "");
    accumulate(2);
    born(10, 1000, LESS);
    freed(2, 1000, LESS);
    freed(90, 1000, LESS);
    accumulate(2);
    born(11, 1000, LESS);
    freed(2, 1000, LESS);
    freed(10, 1000, LESS);
    accumulate(2);
    capture_load(&capture);
    ck_assert_int_ne(category_at(10), CATEGORY_GRADIENT);
}
END_TEST

TCase *category_replaced_tests(void)
{
    TCase *tests = tcase_create("categories of replaced gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, zeros_may_replace_gradients);
    tcase_add_test(tests, weights_that_replace_gradients_are_no_gradients);
    return tests;
}
