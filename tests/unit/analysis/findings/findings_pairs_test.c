/* Findings on tensors of all pairs, which broadcasting makes. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define VALUES 1024
#define SIZE   (VALUES * 4)
#define PAIRS  (VALUES * VALUES * 4)

#define MODEL                                                                                      \
    CPP("at::_ops::to_dtype_layout::call(x)")                                                      \
    "," PY("convert", TORCH "nn/modules/module.py", 1369) "," SCRIPT

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* A step whose loss makes a tensor of all pairs of values while `made_by` has made two tensors of
 * as many values, and the forward pass one of `last` bytes after them. */
static void train(const char *made_by, uint64_t last)
{
    uint64_t a = born(SIZE, made_by), b = born(SIZE, made_by);
    uint64_t saved = born(last, STACK_FORWARD);
    uint64_t pairs = born(PAIRS, STACK_LOSS);
    uint64_t gradient = born(100, STACK_BACKWARD);
    capture_free(&capture, pairs, PAIRS, STACK_BACKWARD);
    capture_free(&capture, saved, last, STACK_BACKWARD);
    capture_free(&capture, born(100, STACK_STEP), 100, STACK_STEP);
    capture_free(&capture, gradient, 100, STACK_STEP);
    capture_free(&capture, a, SIZE, SCRIPT);
    capture_free(&capture, b, SIZE, SCRIPT);
}

START_TEST(a_prediction_and_its_target)
{
    train(STACK_FORWARD, 100);
    ck_assert_int_eq(capture_saving(&capture, FINDING_ALL_PAIRS), PAIRS);
}
END_TEST

START_TEST(biases_are_no_predictions)
{
    train(MODEL, 100);
    ck_assert_int_eq(capture_saving(&capture, FINDING_ALL_PAIRS), -1);
}
END_TEST

START_TEST(a_larger_operand_is_broadcast)
{
    train(STACK_FORWARD, PAIRS / 16);
    ck_assert_int_eq(capture_saving(&capture, FINDING_ALL_PAIRS), -1);
}
END_TEST

TCase *findings_pairs_tests(void)
{
    TCase *tests = tcase_create("findings of pairs");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_prediction_and_its_target);
    tcase_add_test(tests, biases_are_no_predictions);
    tcase_add_test(tests, a_larger_operand_is_broadcast);
    return tests;
}
