/* Results of layers that the program holds until its forward pass is over. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define LAYERS  4
#define SAVED   100
#define RESULT  60
#define SCRATCH 50
#define LINE(n)                                                                                    \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", n) "," CALL "," SCRIPT

/* Each layer saves a tensor and returns another. The model frees the last `held` results when it
 * returns, and each other result when the next layer has run. */
static void train(unsigned held)
{
    uint64_t saved[LAYERS], result[LAYERS];
    for (unsigned i = 0; i < LAYERS; i++) {
        saved[i] = capture_alloc(&capture, SAVED, LINE(3));
        result[i] = capture_alloc(&capture, RESULT, LINE(4));
        if (i > 0 && i - 1 < LAYERS - held)
            capture_free(&capture, result[i - 1], RESULT, LINE(5));
    }
    uint64_t scratch = capture_alloc(&capture, SCRATCH, LINE(9));
    capture_free(&capture, scratch, SCRATCH, LINE(9));
    for (unsigned i = LAYERS - held; i < LAYERS; i++)
        capture_free(&capture, result[i], RESULT, SCRIPT);
    uint64_t gradient = capture_alloc(&capture, 10, STACK_BACKWARD);
    for (unsigned i = LAYERS; i-- > 0;)
        capture_free(&capture, saved[i], SAVED, STACK_BACKWARD);
    uint64_t state = capture_alloc(&capture, 5, STACK_STEP);
    capture_free(&capture, state, 5, STACK_STEP);
    capture_free(&capture, gradient, 10, STACK_STEP);
}

START_TEST(results_are_dropped_at_the_end)
{
    train(LAYERS);
    train(LAYERS);
    ck_assert_int_eq(capture_saving(&capture, FINDING_LAYER_RESULTS), LAYERS * RESULT);
}
END_TEST

START_TEST(results_are_dropped_when_they_are_read)
{
    train(1);
    train(1);
    ck_assert_int_eq(capture_saving(&capture, FINDING_LAYER_RESULTS), -1);
}
END_TEST

/* One layer may pass two results to the next. */
START_TEST(two_are_too_few)
{
    train(2);
    train(2);
    ck_assert_int_eq(capture_saving(&capture, FINDING_LAYER_RESULTS), -1);
}
END_TEST

/* Without training, under torch.no_grad(). A variable holds what the model returns: until it is
 * deleted or, with `_i`, until the next pass sets it again. */
START_TEST(results_of_an_inference)
{
#define NO_GRAD(n) LINE(n) "," PY("no_grad", TORCH "utils/_contextlib.py", 120) "," SCRIPT
    uint64_t before[LAYERS] = {0}, result[LAYERS];
    for (unsigned pass = 0; pass < 4; pass++) {
        for (unsigned i = 0; i < LAYERS; i++) {
            uint64_t scratch = capture_alloc(&capture, SCRATCH, NO_GRAD(3));
            result[i] = capture_alloc(&capture, RESULT, NO_GRAD(4));
            capture_free(&capture, scratch, SCRATCH, NO_GRAD(3));
        }
        uint64_t scratch = capture_alloc(&capture, SCRATCH, NO_GRAD(9));
        capture_free(&capture, scratch, SCRATCH, NO_GRAD(9));
        for (unsigned i = 0; i < LAYERS; i++) {
            if (_i == 0)
                capture_free(&capture, result[i], RESULT, SCRIPT);
            else if (pass > 0)
                capture_free(&capture, before[i], RESULT, SCRIPT);
            before[i] = result[i];
        }
        capture_free(&capture, capture_alloc(&capture, 7, SCRIPT), 7, SCRIPT);
    }
    ck_assert_int_eq(capture_saving(&capture, FINDING_LAYER_RESULTS), LAYERS * RESULT);
}
END_TEST

/* The exception frees what the pass has saved for its backward pass. */
START_TEST(a_pass_that_runs_out_of_memory)
{
    uint64_t saved[LAYERS];
    train(1);
    train(1);
    for (unsigned i = 0; i < LAYERS; i++)
        saved[i] = capture_alloc(&capture, 2 * SAVED, LINE(3));
    uint64_t scratch = capture_alloc(&capture, SCRATCH, LINE(9));
    capture_free(&capture, scratch, SCRATCH, LINE(9));
    capture_event(&capture, "oom", 0, 5000, LINE(9));
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, saved[i], 2 * SAVED, SCRIPT);
    capture_alloc(&capture, 1, SCRIPT);
    ck_assert_int_eq(capture_saving(&capture, FINDING_LAYER_RESULTS), -1);
}
END_TEST

TCase *layer_results_tests(void)
{
    TCase *tests = tcase_create("layer_results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, results_are_dropped_at_the_end);
    tcase_add_test(tests, results_are_dropped_when_they_are_read);
    tcase_add_test(tests, two_are_too_few);
    tcase_add_loop_test(tests, results_of_an_inference, 0, 2);
    tcase_add_test(tests, a_pass_that_runs_out_of_memory);
    return tests;
}
