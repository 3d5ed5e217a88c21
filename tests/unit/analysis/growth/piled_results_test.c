/* Results of several steps that are freed together. */
#include "analysis/growth/piled_results.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define STEPS  8
#define EACH   4 /* steps whose results are freed together */
#define RESULT 500
#define AT(n)  PY("<module>", "/home/u/train.py", n)
#define MODEL                                                                                      \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," AT(4)
#define INSIDE                                                                                     \
    CPP("at::_ops::exp::call(x)") "," PY("forward", "/home/u/model.py", 2) "," CALL "," AT(4)
#define COLLECT    PY("collect", "/usr/lib/gc.py", 1) "," AT(8)
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()") "," ENGINE

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* Makes a result in each step, and frees those of EACH steps with `frames`; with some allocation
 * between two frees, unless they are freed `together`. Those of the last `left` steps stay. */
static void train(unsigned left, bool together, const char *frames)
{
    uint64_t results[STEPS];
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t inside = born(100, INSIDE);
        results[i] = born(RESULT, MODEL);
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, inside, 100, SAVED_DIES);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        if (i % EACH != EACH - 1 || i + left >= STEPS)
            continue;
        for (unsigned j = i + 1 - EACH; j <= i; j++) {
            capture_free(&capture, results[j], RESULT, frames);
            if (!together)
                capture_free(&capture, born(8, AT(6)), 8, AT(6));
        }
    }
}

static const struct finding *found(void)
{
    capture_load(&capture);
    report = capture_report(&capture, 0);
    return report_finding(report, FINDING_PILED_RESULTS);
}

/* Keeps the results of the last EACH steps; `last_first`: frees the newest but one instead. */
static void train_with_window(bool last_first)
{
    uint64_t results[STEPS];
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t inside = born(100, INSIDE);
        results[i] = born(RESULT, MODEL);
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, inside, 100, SAVED_DIES);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        if (i >= EACH)
            capture_free(&capture, results[last_first ? i - 1 : i - EACH], RESULT, AT(5));
    }
}

/* No variable holds the results of a window, and nothing frees them together. */
START_TEST(results_in_a_window)
{
    train_with_window(false);
    const struct finding *finding = found();
    ck_assert_ptr_nonnull(finding);
    ck_assert(finding->at_most && report->piled.in_windows);
    ck_assert_uint_eq(report->piled.steps, EACH);
    ck_assert_ptr_nonnull(strstr(finding->what, "frees the oldest when it has a new one"));
    ck_assert_ptr_null(report_finding(report, FINDING_KEPT_RESULTS));
    ck_assert_uint_eq(report->kept.at_peak_bytes, 0);
}
END_TEST

/* A variable that is set in every third step keeps its result as long as a window does. */
START_TEST(a_variable_is_no_window)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 3 * STEPS; i++) {
        uint64_t inside = born(100, INSIDE), old = result;
        if (i % 3 == 0)
            result = born(RESULT, MODEL);
        uint64_t gradient = born(10, STACK_BACKWARD);
        capture_free(&capture, inside, 100, SAVED_DIES);
        capture_free(&capture, gradient, 10, STACK_STEP);
        born(1, STACK_STEP);
        if (i % 3 == 0 && old)
            capture_free(&capture, old, RESULT, AT(5));
    }
    ck_assert_ptr_null(found());
    ck_assert_uint_eq(report->piled.steps, 0);
}
END_TEST

START_TEST(results_that_no_window_keeps)
{
    train_with_window(true);
    ck_assert_ptr_null(found());
    ck_assert(!report->piled.in_windows);
}
END_TEST

/* The step with the peak still needs its own result. */
START_TEST(results_in_reference_cycles)
{
    train(0, true, COLLECT);
    const struct finding *finding = found();
    ck_assert_ptr_nonnull(finding);
    ck_assert(finding->at_most);
    ck_assert_uint_eq(report->piled.steps, EACH - 1);
    ck_assert_int_eq(finding->save_bytes, (EACH - 1) * RESULT);
}
END_TEST

START_TEST(the_last_ones_are_not_freed)
{
    train(EACH, true, COLLECT);
    const struct finding *finding = found();
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, (EACH - 1) * RESULT);
}
END_TEST

START_TEST(results_that_are_freed_one_by_one)
{
    train(0, false, COLLECT);
    ck_assert_ptr_null(found());
}
END_TEST

/* The loss of several batches is summed up before its backward pass. */
START_TEST(results_that_a_backward_pass_frees)
{
    train(0, true, SAVED_DIES);
    ck_assert_ptr_null(found());
}
END_TEST

/* A request needs the results of a few forward passes. */
START_TEST(results_of_a_request)
{
    for (unsigned request = 0; request < STEPS; request++) {
        uint64_t results[EACH];
        for (unsigned i = 0; i < EACH; i++) {
            capture_free(&capture, born(100, INSIDE), 100, INSIDE);
            results[i] = born(RESULT, MODEL);
            capture_free(&capture, born(8, AT(5)), 8, AT(5));
        }
        for (unsigned i = 0; i < EACH; i++)
            capture_free(&capture, results[i], RESULT, AT(7));
    }
    ck_assert_ptr_null(found());
    ck_assert_int_eq(report->steps.source, STEPS_FORWARD);
}
END_TEST

TCase *piled_results_tests(void)
{
    TCase *tests = tcase_create("piled results");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, results_in_a_window);
    tcase_add_test(tests, a_variable_is_no_window);
    tcase_add_test(tests, results_that_no_window_keeps);
    tcase_add_test(tests, results_in_reference_cycles);
    tcase_add_test(tests, the_last_ones_are_not_freed);
    tcase_add_test(tests, results_that_are_freed_one_by_one);
    tcase_add_test(tests, results_that_a_backward_pass_frees);
    tcase_add_test(tests, results_of_a_request);
    return tests;
}
