/* Gradients that no optimizer uses or frees. */
#include "analysis/gradients/idle_gradients.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define STEPS   4
#define TRAINED 8000
#define FROZEN  24000
#define INIT    PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void passing(uint64_t size, const char *frames)
{
    capture_free(&capture, born(size, frames), size, frames);
}

/* The optimizer keeps two states for what it has. */
static void first_step(uint64_t size)
{
    born(size, STACK_STEP);
    born(size, STACK_STEP);
}

/* Trains a parameter of TRAINED bytes; returns its last gradient. `frozen`: the bytes of another
 * one, which has a gradient too. `has_frozen`: the optimizer has it. */
static uint64_t train(unsigned steps, uint64_t frozen, bool has_frozen, bool sums)
{
    uint64_t gradient = 0;
    for (unsigned i = 0; i < steps; i++) {
        uint64_t activation = born(500, STACK_FORWARD);
        if (gradient)
            capture_free(&capture, gradient, TRAINED, SCRIPT);
        if (frozen && i == 0)
            born(frozen, STACK_BACKWARD);
        else if (frozen && sums)
            passing(frozen, STACK_BACKWARD);
        gradient = born(TRAINED, STACK_BACKWARD);
        capture_free(&capture, activation, 500, STACK_BACKWARD);
        if (i == 0 && has_frozen)
            first_step(frozen);
        if (i == 0)
            first_step(TRAINED);
        else
            passing(TRAINED, STACK_STEP);
    }
    return gradient;
}

static struct idle_gradients found(struct device_report **report)
{
    capture_load(&capture);
    *report = capture_report(&capture, 10);
    return (*report)->growth.idle;
}

static void expect(enum idle_reason reason, int64_t bytes)
{
    struct device_report *report;
    struct idle_gradients idle = found(&report);
    ck_assert_int_eq(idle.bytes, bytes);
    ck_assert_int_eq(idle.reason, reason);
    device_report_destroy(report);
}

START_TEST(parameters_that_are_not_in_the_optimizer)
{
    struct device_report *report;
    born(TRAINED, INIT);
    born(FROZEN, INIT);
    train(STEPS, FROZEN, false, true);
    struct idle_gradients idle = found(&report);
    ck_assert_int_eq(idle.reason, IDLE_UNTRAINED);
    ck_assert_int_eq(idle.bytes, FROZEN);
    ck_assert_uint_eq(idle.count, 1);
    ck_assert_int_eq(idle.save_bytes, FROZEN);
    ck_assert_uint_eq(report->growth.gradients.count, 1); /* zero_grad() reaches the other one */
    device_report_destroy(report);
}
END_TEST

START_TEST(all_gradients_are_made_anew)
{
    born(TRAINED, INIT);
    train(STEPS, 0, false, false);
    expect(IDLE_UNKNOWN, 0);
}
END_TEST

START_TEST(the_optimizer_has_it)
{
    born(TRAINED, INIT);
    born(FROZEN, INIT);
    train(STEPS, FROZEN, true, true);
    expect(IDLE_UNKNOWN, FROZEN);
}
END_TEST

/* A method may keep a copy of a gradient. */
START_TEST(nothing_is_added_to_it)
{
    born(TRAINED, INIT);
    born(FROZEN, INIT);
    train(STEPS, FROZEN, false, false);
    expect(IDLE_UNKNOWN, FROZEN);
}
END_TEST

START_TEST(an_earlier_model)
{
    struct device_report *report;
    born(TRAINED, INIT);
    train(2, 0, false, false);
    born(TRAINED, INIT);
    train(STEPS, 0, false, false);
    struct idle_gradients idle = found(&report);
    ck_assert_int_eq(idle.reason, IDLE_EARLIER_MODEL);
    ck_assert_int_eq(idle.bytes, TRAINED);
    ck_assert_int_eq(idle.state_bytes, 2 * TRAINED);
    ck_assert_int_eq(idle.parameter_bytes, TRAINED);
    ck_assert_int_eq(idle.save_bytes, 3 * TRAINED);
    device_report_destroy(report);
}
END_TEST

/* The present model has made one step, or has another shape, such as that of a critic. */
START_TEST(an_earlier_model_before_one_step)
{
    struct device_report *report;
    born(_i == 0 ? TRAINED : FROZEN, INIT);
    if (_i == 0) {
        train(2, 0, false, false);
    } else {
        train(1, FROZEN, true, false);
    }
    born(TRAINED, INIT);
    train(1, 0, false, false);
    born(500, STACK_FORWARD);
    struct idle_gradients idle = found(&report);
    ck_assert_int_eq(idle.reason, _i == 0 ? IDLE_EARLIER_MODEL : IDLE_UNKNOWN);
    ck_assert_int_eq(idle.state_bytes, _i == 0 ? 2 * TRAINED : 0);
    device_report_destroy(report);
}
END_TEST

/* Each is left behind when the next one is made. */
START_TEST(two_earlier_models)
{
    struct device_report *report;
    for (unsigned model = 0; model < 3; model++) {
        born(TRAINED, INIT);
        train(STEPS, 0, false, false);
    }
    struct idle_gradients idle = found(&report);
    ck_assert_int_eq(idle.reason, IDLE_EARLIER_MODEL);
    ck_assert_uint_eq(idle.earlier_models, 2);
    ck_assert_int_eq(idle.state_bytes, 2 * 2 * TRAINED);
    /* for either model, its gradient and two states */
    ck_assert_int_eq(idle.save_bytes, 2 * 3 * TRAINED);
    device_report_destroy(report);
}
END_TEST

/* Something keeps the input of each step with its gradient. No optimizer could have it. */
START_TEST(gradients_of_inputs)
{
    uint64_t gradient = 0;
    born(TRAINED, INIT);
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t activation = born(500, STACK_FORWARD);
        if (gradient)
            capture_free(&capture, gradient, TRAINED, SCRIPT);
        passing(FROZEN, STACK_BACKWARD);
        gradient = born(TRAINED, STACK_BACKWARD);
        born(FROZEN, STACK_BACKWARD);
        capture_free(&capture, activation, 500, STACK_BACKWARD);
        if (i == 0)
            first_step(TRAINED);
        else
            passing(TRAINED, STACK_STEP);
    }
    expect(IDLE_UNKNOWN, (STEPS - 2) * FROZEN); /* those that live through two cycles */
}
END_TEST

#define SMALL 3000 /* bytes; states of that size are not counted */

/* The optimizer has a parameter of TRAINED bytes and one of SMALL bytes, and another of `idle`
 * bytes is in no optimizer. */
static void train_small(uint64_t idle)
{
    uint64_t gradients[2] = {0};
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t activation = born(500, STACK_FORWARD);
        if (i > 0) {
            capture_free(&capture, gradients[0], TRAINED, SCRIPT);
            capture_free(&capture, gradients[1], SMALL, SCRIPT);
            passing(idle, STACK_BACKWARD);
        } else {
            born(idle, STACK_BACKWARD);
        }
        gradients[0] = born(TRAINED, STACK_BACKWARD);
        gradients[1] = born(SMALL, STACK_BACKWARD);
        capture_free(&capture, activation, 500, STACK_BACKWARD);
        if (i == 0) {
            first_step(TRAINED);
            first_step(SMALL);
        } else {
            passing(TRAINED, STACK_STEP);
        }
    }
}

START_TEST(small_states_tell_nothing)
{
    train_small(FROZEN);
    expect(IDLE_UNTRAINED, FROZEN);
}
END_TEST

START_TEST(small_gradients_alone_tell_nothing)
{
    train_small(SMALL + 8);
    expect(IDLE_UNKNOWN, SMALL + 8);
}
END_TEST

START_TEST(two_steps_are_too_few)
{
    born(TRAINED, INIT);
    born(FROZEN, INIT);
    train(2, FROZEN, false, true);
    expect(IDLE_UNKNOWN, 0);
}
END_TEST

TCase *idle_gradients_tests(void)
{
    TCase *tests = tcase_create("idle gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, parameters_that_are_not_in_the_optimizer);
    tcase_add_test(tests, all_gradients_are_made_anew);
    tcase_add_test(tests, the_optimizer_has_it);
    tcase_add_test(tests, nothing_is_added_to_it);
    tcase_add_test(tests, an_earlier_model);
    tcase_add_loop_test(tests, an_earlier_model_before_one_step, 0, 2);
    tcase_add_test(tests, two_earlier_models);
    tcase_add_test(tests, gradients_of_inputs);
    tcase_add_test(tests, small_states_tell_nothing);
    tcase_add_test(tests, small_gradients_alone_tell_nothing);
    tcase_add_test(tests, two_steps_are_too_few);
    return tests;
}
