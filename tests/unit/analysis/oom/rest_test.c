/* What a step that ran out of memory would still have needed, and what it still holds. */
#include "analysis/oom/rest.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define SAVED  1024
#define LATER  2048
#define STATE  512
#define WEIGHT 512
#define LATER_STACK                                                                                \
    CPP("at::_ops::exp::call(x)") "," PY("forward", "/home/u/model.py", 4) "," CALL "," SCRIPT

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* A complete step; returns its gradient, which stays. */
static uint64_t step(uint64_t gradient)
{
    uint64_t saved = born(SAVED, STACK_FORWARD);
    if (gradient)
        capture_free(&capture, gradient, WEIGHT, SCRIPT);
    uint64_t later = born(LATER, LATER_STACK);
    gradient = born(WEIGHT, STACK_BACKWARD);
    capture_free(&capture, later, LATER, STACK_BACKWARD);
    capture_free(&capture, saved, SAVED, STACK_BACKWARD);
    born(STATE, STACK_STEP);
    return gradient;
}

static bool rest_is_unknown; /* after expect() */

static void expect(int64_t bytes, int64_t like)
{
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->ooms.count, 1);
    ck_assert_int_eq(report->ooms.items[0].step_bytes, bytes);
    ck_assert_int_eq(report->ooms.items[0].like_step, like);
    rest_is_unknown = report->ooms.items[0].rest_is_unknown;
    device_report_destroy(report);
}

START_TEST(the_step_before_shows_the_rest)
{
    step(0);
    born(WEIGHT, STACK_FORWARD);
    capture_event(&capture, "oom", 0, SAVED, STACK_FORWARD);
    expect(WEIGHT + STATE + SAVED + LATER + WEIGHT, 0);
    ck_assert(!rest_is_unknown);
}
END_TEST

/* Its size is the same in every step, whatever the batch. */
#define WORKSPACE                                                                                  \
    CPP("at::cuda::blas::allocateCUDABlasWorkspace(x)")                                            \
    "," CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 5) "," CALL "," SCRIPT

static void step_with_workspace(uint64_t times)
{
    uint64_t saved = born(times * SAVED, STACK_FORWARD);
    capture_free(&capture, born(512, WORKSPACE), 512, WORKSPACE);
    uint64_t later = born(times * LATER, LATER_STACK);
    uint64_t gradient = born(WEIGHT, STACK_BACKWARD);
    capture_free(&capture, later, times * LATER, STACK_BACKWARD);
    capture_free(&capture, saved, times * SAVED, STACK_BACKWARD);
    born(STATE, STACK_STEP);
    capture_free(&capture, gradient, WEIGHT, SCRIPT);
}

START_TEST(a_batch_of_another_size_needs_that_much_more)
{
    step_with_workspace(1);
    born(3 * SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, 512, WORKSPACE);
    expect(STATE + 3 * (SAVED + LATER) + WEIGHT, 0);
}
END_TEST

/* The longest batch: what its pass has kept by then tells how many times as large it is. With `_i`,
 * the request fails before the pass has kept anything. */
START_TEST(a_longer_batch_makes_larger_requests)
{
    step_with_workspace(1);
    if (_i == 0)
        born(3 * SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, 3 * (_i == 0 ? LATER : SAVED),
                  _i == 0 ? LATER_STACK : STACK_FORWARD);
    expect(_i == 0 ? STATE + 3 * (SAVED + LATER) + WEIGHT : 0, 0);
}
END_TEST

/* The request of an activation shows that the batches are alike. What the step holds in addition
 * does not grow with them. */
START_TEST(a_batch_of_the_same_size_needs_as_much)
{
    step(0);
    born(2 * SAVED, STACK_FORWARD);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    expect(WEIGHT + STATE + 3 * SAVED + LATER, 0);
}
END_TEST

START_TEST(the_first_step_has_none_before_it)
{
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    expect(0, 0);
}
END_TEST

#define RESULT 256
#define RESULT_STACK                                                                               \
    CPP("at::_ops::exp::call(x)") "," PY("forward", "/home/u/model.py", 5) "," CALL "," SCRIPT

/* A step whose variable keeps the result up to the next one; returns it. */
static uint64_t step_with_result(uint64_t old)
{
    uint64_t saved = born(SAVED, STACK_FORWARD), later = born(LATER, LATER_STACK);
    uint64_t result = born(RESULT, RESULT_STACK);
    if (old)
        capture_free(&capture, old, RESULT, SCRIPT);
    uint64_t gradient = born(WEIGHT, STACK_BACKWARD);
    capture_free(&capture, later, LATER, STACK_BACKWARD);
    capture_free(&capture, saved, SAVED, STACK_BACKWARD);
    born(STATE, STACK_STEP);
    capture_free(&capture, gradient, WEIGHT, SCRIPT);
    return result;
}

/* The first step has no old result that its curve could show. */
START_TEST(results_of_the_step_before_are_set_again)
{
    uint64_t result = 0;
    for (int i = 0; i <= _i; i++)
        result = step_with_result(result);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    expect((_i + 1) * STATE + SAVED + LATER + RESULT + WEIGHT, _i);
}
END_TEST

START_TEST(another_size_is_another_request)
{
    step(0);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, 2 * SAVED, STACK_FORWARD);
    expect(0, 0);
    ck_assert(rest_is_unknown);
}
END_TEST

START_TEST(gradients_are_freed_as_in_the_step_before)
{
    step(step(0));
    born(WEIGHT, STACK_FORWARD);
    capture_event(&capture, "oom", 0, SAVED, STACK_FORWARD);
    expect(WEIGHT + 2 * STATE + SAVED + LATER + WEIGHT, 1);
}
END_TEST

/* Two attempts of a step; the first one fails after it has saved `SAVED` bytes, which stay, or not.
 */
static void expect_attempt(bool stays, int64_t bytes)
{
    step(0);
    uint64_t saved = born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    if (!stays)
        capture_free(&capture, saved, SAVED, SCRIPT);
    born(SAVED / 2, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_eq(report->ooms.count, 2);
    ck_assert_int_eq(report->ooms.items[0].attempt_bytes, 0);
    ck_assert_int_eq(report->ooms.items[1].attempt_bytes, bytes);
    device_report_destroy(report);
}

START_TEST(an_exception_holds_the_failed_attempt)
{
    expect_attempt(true, SAVED);
}
END_TEST

START_TEST(the_failed_attempt_is_freed)
{
    expect_attempt(false, 0);
}
END_TEST

/* cuDNN's algorithms need workspaces of their own; an attempt by the program computes again. */
START_TEST(one_call_may_try_again)
{
    step(0);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct oom_row *rows = report->ooms.items;
    ck_assert_uint_eq(report->ooms.count, 3);
    ck_assert(!rows[0].tries_again && rows[1].tries_again && !rows[2].tries_again);
    ck_assert_int_eq(rows[1].attempt_bytes, 0);
    ck_assert_int_eq(rows[2].attempt_bytes, SAVED);
    device_report_destroy(report);
}
END_TEST

#define LINEAR                                                                                     \
    CPP("at::_ops::linear::call(x)")                                                               \
    "," PY("forward", TORCH "nn/modules/linear.py", 125) "," CALL "," SCRIPT

/* One line makes the batch and calls the model. The smaller batch fails at once. */
START_TEST(an_attempt_may_fail_at_the_same_line)
{
    step(0);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LINEAR);
    capture_event(&capture, "oom", 0, LATER / 2, SCRIPT);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct oom_row *rows = report->ooms.items;
    ck_assert_uint_eq(report->ooms.count, 2);
    ck_assert_str_eq(rows[0].asker, rows[1].asker);
    ck_assert(!rows[1].tries_again);
    ck_assert_int_eq(rows[1].attempt_bytes, SAVED);
    device_report_destroy(report);
}
END_TEST

/* The attempts get smaller and smaller, until not even the batch fits. */
START_TEST(further_tries_find_the_failed_attempt_too)
{
    step(0);
    born(SAVED, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, LATER_STACK);
    born(8, STACK_FORWARD);
    capture_event(&capture, "oom", 0, LATER, SCRIPT);
    capture_event(&capture, "oom", 0, LATER / 2, SCRIPT);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct oom_row *rows = report->ooms.items;
    ck_assert_uint_eq(report->ooms.count, 3);
    ck_assert(!rows[1].tries_again && rows[2].tries_again);
    ck_assert_int_eq(rows[1].attempt_bytes, SAVED);
    ck_assert_int_eq(rows[2].attempt_bytes, SAVED);
    ck_assert_str_eq(rows[2].next, rows[1].next);
    device_report_destroy(report);
}
END_TEST

TCase *oom_rest_tests(void)
{
    TCase *tests = tcase_create("rest of a step");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_step_before_shows_the_rest);
    tcase_add_test(tests, a_batch_of_another_size_needs_that_much_more);
    tcase_add_loop_test(tests, a_longer_batch_makes_larger_requests, 0, 2);
    tcase_add_test(tests, a_batch_of_the_same_size_needs_as_much);
    tcase_add_test(tests, the_first_step_has_none_before_it);
    tcase_add_test(tests, an_exception_holds_the_failed_attempt);
    tcase_add_test(tests, one_call_may_try_again);
    tcase_add_test(tests, an_attempt_may_fail_at_the_same_line);
    tcase_add_test(tests, further_tries_find_the_failed_attempt_too);
    tcase_add_test(tests, the_failed_attempt_is_freed);
    tcase_add_loop_test(tests, results_of_the_step_before_are_set_again, 0, 3);
    tcase_add_test(tests, another_size_is_another_request);
    tcase_add_test(tests, gradients_are_freed_as_in_the_step_before);
    return tests;
}
