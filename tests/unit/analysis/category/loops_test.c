/* Phases and categories where stacks do not name the phase: loops written by hand, functions
 * without modules, and threads of autograd. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/layer_passes.h"

START_TEST(a_loop_written_by_hand)
{
    parameters_before();
    born(50, 64, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
    one_step(SCRIPT, ENGINE);
    update_by_hand(SCRIPT);
    freed(50, 64, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(50, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM); /* its phase is inferred */
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_HIGH);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
    expect(403, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(503, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

/* What each update makes anew may be the weights as well. */
START_TEST(updates_that_make_all_anew)
{
    parameters_before();
    for (unsigned step = 0; step < 4; step++) {
        born(50, 64, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
        one_step(STACK_FORWARD, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++) {
            born(1000 * (step + 1) + i, PARAMETER + i, SCRIPT);
            freed(1000 * step + i, PARAMETER + i, SCRIPT);
            freed(300 + i, PARAMETER + i, SCRIPT);
        }
        freed(50, 64, SCRIPT);
    }
    capture_load(&capture);
    expect(1003, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    expect(2003, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    expect(4003, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

/* Batches, and what is made of them and stays, of the sizes of weights. */
START_TEST(an_update_ends_with_the_gradients)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        for (unsigned i = 0; i < 2; i++) {
            born(700 + 10 * step + i, PARAMETER + i, CPP("at::_ops::mul::call(x)") "," SCRIPT);
            born(600 + i, PARAMETER + i, CPP("at::_ops::randn::call(x)") "," SCRIPT);
        }
        one_step(STACK_FORWARD, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, SCRIPT);
        freed(600, PARAMETER, SCRIPT);
        freed(601, PARAMETER + 1, SCRIPT);
    }
    capture_load(&capture);
    expect(600, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(700, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(710, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_thread_of_autograd_has_no_python)
{
    parameters_before();
    one_step(STACK_FORWARD, "");
    born(60, 16, STACK_STEP);
    freed(60, 16, STACK_STEP);
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_HIGH);
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_thread_that_frees_nothing_of_the_forward_is_none_of_autograds)
{
    born(1, 1000, STACK_FORWARD);
    born(2, 1000, "");
    freed(2, 1000, "");
    born(3, 1000, STACK_FORWARD);
    freed(1, 1000, STACK_FORWARD);
    freed(3, 1000, STACK_FORWARD);
    capture_load(&capture);
    expect(2, CATEGORY_TEMPORARY, CONFIDENCE_HIGH); /* scratch of the forward */
}
END_TEST

START_TEST(without_a_turn_it_is_a_guess)
{
    parameters_before();
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, "");
        if (i > 0)
            freed(99 + i, ACTIVATION, "");
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    expect(150, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* With `frees`, the result of each layer replaces that of the previous one. */
static void functions_only(bool frees)
{
    parameters_before();
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, SCRIPT);
        if (frees && i > 0)
            freed(99 + i, ACTIVATION, SCRIPT);
    }
    capture_load(&capture);
}

START_TEST(a_model_without_modules_computes_forward)
{
    functions_only(true);
    expect_forward_passes(1);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    expect(150, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* Clustering: iterations without a backward pass. */
START_TEST(code_with_a_tensor_that_stays_has_data)
{
    born(1, PARAMETER, SCRIPT);
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, SCRIPT);
        if (i > 0)
            freed(99 + i, ACTIVATION, SCRIPT);
    }
    freed(199, ACTIVATION, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_INPUT, CONFIDENCE_LOW);
}
END_TEST

START_TEST(plain_code_that_only_piles_up_computes_nothing)
{
    functions_only(false);
    expect_forward_passes(0);
    expect(1, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

TCase *category_loops_tests(void)
{
    TCase *tests = tcase_create("categories of loops written by hand");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_loop_written_by_hand);
    tcase_add_test(tests, updates_that_make_all_anew);
    tcase_add_test(tests, an_update_ends_with_the_gradients);
    tcase_add_test(tests, a_thread_of_autograd_has_no_python);
    tcase_add_test(tests, a_thread_that_frees_nothing_of_the_forward_is_none_of_autograds);
    tcase_add_test(tests, without_a_turn_it_is_a_guess);
    tcase_add_test(tests, a_model_without_modules_computes_forward);
    tcase_add_test(tests, code_with_a_tensor_that_stays_has_data);
    tcase_add_test(tests, plain_code_that_only_piles_up_computes_nothing);
    return tests;
}
