/* Results that plain code computes before the first module. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define DIFFERENCE CPP("at::_ops::sub::call(x)") "," SCRIPT
#define REPEATED   CPP("at::_ops::repeat::call(x)") "," SCRIPT
#define DRAWN      CPP("at::_ops::randn::call(x)") "," SCRIPT
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()") "," ENGINE

static enum category category_at(uint64_t addr)
{
    uint8_t reason;
    return capture_category_why(&capture, addr, &reason);
}

/* A step whose modules get what plain code computes from a drawn tensor. After the modules, the
 * backward pass makes so many blocks of the size of the first result. */
static void step(unsigned gradients)
{
    born(1, 30, DRAWN);
    born(2, 500, DIFFERENCE);
    born(3, 700, REPEATED);
    born(4, 200, STACK_FORWARD);
    born(5, 1000, STACK_BACKWARD);
    freed(4, 200, SAVED_DIES);
    for (unsigned i = 0; i < gradients; i++) {
        born(6, 500, STACK_BACKWARD);
        freed(6, 500, ENGINE);
    }
    freed(2, 500, SAVED_DIES);
    born(7, 16, STACK_STEP);
    freed(7, 16, STACK_STEP);
    freed(5, 1000, SCRIPT);
    freed(3, 700, SCRIPT); /* a variable held it */
    freed(1, 30, SCRIPT);
}

START_TEST(results_have_gradients)
{
    step(2);
    capture_load(&capture);
    ck_assert_int_eq(category_at(1), CATEGORY_INPUT);
    ck_assert_int_eq(category_at(2), CATEGORY_ACTIVATION);
    ck_assert_int_eq(category_at(3), CATEGORY_ACTIVATION);
}
END_TEST

/* The one block may be the gradient of a weight. */
START_TEST(batches_have_none)
{
    step(1);
    capture_load(&capture);
    for (uint64_t addr = 1; addr <= 3; addr++)
        ck_assert_int_eq(category_at(addr), CATEGORY_INPUT);
}
END_TEST

TCase *category_early_results_tests(void)
{
    TCase *tests = tcase_create("categories of results before the first module");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, results_have_gradients);
    tcase_add_test(tests, batches_have_none);
    return tests;
}
