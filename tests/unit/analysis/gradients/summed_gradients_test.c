/* Gradients that are older than the recording, and to which backward passes add. */
#include "analysis/gradients/summed_gradients.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define STEPS 5
#define SIZE  24000
#define ADDED CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE

#define IN_HOOK CPP("at::_ops::mm::call(x)") "," PY("hook", "/home/u/train.py", 3) "," ADDED

/* The optimizer frees a gradient after each step, and each backward pass makes it anew. It adds
 * another to a gradient that is there already, but in the step `fresh` it makes that one anew as
 * well. */
static void train_with(unsigned fresh, bool frees, bool by_hook)
{
    uint64_t own = 0, other = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t saved = capture_alloc(&capture, 500, STACK_FORWARD);
        if (own && frees)
            capture_free(&capture, own, SIZE, SCRIPT);
        if (!own || frees)
            own = capture_alloc(&capture, SIZE, STACK_BACKWARD);
        if (step == fresh) {
            if (other)
                capture_free(&capture, other, SIZE, SCRIPT);
            other = capture_alloc(&capture, SIZE, STACK_BACKWARD);
        } else {
            uint64_t added = capture_alloc(&capture, SIZE, STACK_BACKWARD);
            if (by_hook)
                capture_free(&capture, capture_alloc(&capture, 100, IN_HOOK), 100, IN_HOOK);
            capture_free(&capture, added, SIZE, ADDED);
        }
        capture_free(&capture, saved, 500, STACK_BACKWARD);
        capture_free(&capture, capture_alloc(&capture, 8, STACK_STEP), 8, STACK_STEP);
    }
    capture_block(&capture, 900000, SIZE, "");
}

static void train(unsigned fresh, bool frees)
{
    train_with(fresh, frees, false);
}

START_TEST(gradients_that_are_never_freed)
{
    train(STEPS, true);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_IDLE_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_uint_eq(report->growth.summed.count, 1);
    ck_assert_int_eq(finding->save_bytes, SIZE);
    ck_assert(finding->at_least);
}
END_TEST

#define ROOT                                                                                       \
    CPP("at::_ops::ones_like::call(x)")                                                            \
    "," PY("_make_grads", TORCH "autograd/__init__.py",                                            \
           117) "," PY("backward", TORCH "autograd/__init__.py", 340) "," SCRIPT

/* Two losses share a graph. The second call of backward() adds to the gradient that the first has
 * made. In one call, what is added is for another gradient. */
START_TEST(gradients_of_two_losses)
{
    uint64_t own = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t saved = capture_alloc(&capture, 500, STACK_FORWARD);
        if (own)
            capture_free(&capture, own, SIZE, SCRIPT);
        capture_free(&capture, capture_alloc(&capture, 4, ROOT), 4, SCRIPT);
        own = capture_alloc(&capture, SIZE, STACK_BACKWARD);
        if (_i == 1)
            capture_free(&capture, capture_alloc(&capture, 4, ROOT), 4, SCRIPT);
        capture_free(&capture, capture_alloc(&capture, SIZE, STACK_BACKWARD), SIZE, ADDED);
        capture_free(&capture, saved, 500, STACK_BACKWARD);
        capture_free(&capture, capture_alloc(&capture, 8, STACK_STEP), 8, STACK_STEP);
    }
    capture_block(&capture, 900000, SIZE, "");
    make_report(0);
    ck_assert_uint_eq(report->growth.summed.count, _i == 0 ? 1 : 0);
}
END_TEST

/* As if its optimizer made a step less often. */
START_TEST(gradients_that_are_freed_once)
{
    train(2, true);
    make_report(0);
    ck_assert_uint_eq(report->growth.summed.count, 0);
}
END_TEST

START_TEST(gradients_that_a_hook_drops)
{
    train_with(STEPS, true, true);
    make_report(0);
    ck_assert_uint_eq(report->growth.summed.count, 0);
}
END_TEST

/* Two models of the same sizes take turns. The backward pass of either adds to the gradients of the
 * other, which their optimizer frees later. */
START_TEST(gradients_of_two_models)
{
    uint64_t gradients[2] = {0};
    for (unsigned turn = 0; turn < 2 * STEPS; turn++) {
        uint64_t *own = &gradients[turn % 2], other = gradients[1 - turn % 2];
        uint64_t saved = capture_alloc(&capture, 500, STACK_FORWARD);
        if (*own)
            capture_free(&capture, *own, SIZE, SCRIPT);
        *own = capture_alloc(&capture, SIZE, STACK_BACKWARD);
        if (other)
            capture_free(&capture, capture_alloc(&capture, SIZE, STACK_BACKWARD), SIZE, ADDED);
        capture_free(&capture, saved, 500, STACK_BACKWARD);
        capture_free(&capture, capture_alloc(&capture, 8, STACK_STEP), 8, STACK_STEP);
    }
    make_report(0);
    ck_assert_uint_eq(report->growth.summed.count, 0);
}
END_TEST

/* zero_grad(set_to_none=False) leaves all gradients in place. */
START_TEST(no_gradient_is_made_anew)
{
    train(STEPS, false);
    make_report(0);
    ck_assert_uint_eq(report->growth.summed.count, 0);
}
END_TEST

TCase *summed_gradients_tests(void)
{
    TCase *tests = tcase_create("summed gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_that_are_never_freed);
    tcase_add_loop_test(tests, gradients_of_two_losses, 0, 2);
    tcase_add_test(tests, gradients_that_are_freed_once);
    tcase_add_test(tests, gradients_that_a_hook_drops);
    tcase_add_test(tests, gradients_of_two_models);
    tcase_add_test(tests, no_gradient_is_made_anew);
    return tests;
}
