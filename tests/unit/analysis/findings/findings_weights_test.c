/* Findings on models that are on the device twice while one is made or converted. */
#include <string.h>

#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define WEIGHT      4000
#define LAYERS      6
#define MODEL       (LAYERS * (uint64_t)WEIGHT)
#define MOVE        PY("_apply", TORCH "nn/modules/module.py", 966) "," SCRIPT
#define CONVERT     PY("_apply", TORCH "nn/modules/module.py", 967) "," SCRIPT
#define BY_HAND(op) CPP("at::_ops::" op "::call(x)") "," SCRIPT
#define COPIED                                                                                     \
    PY("__deepcopy__", TORCH "nn/parameter.py", 70)                                                \
    "," PY("deepcopy", "/usr/lib/copy.py", 153) "," SCRIPT

static uint64_t weights[LAYERS];

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void make(const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++)
        weights[i] = born(WEIGHT, frames);
}

static void release(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, weights[i], WEIGHT, SCRIPT);
}

/* A forward pass. */
static void run(void)
{
    capture_free(&capture, born(100, STACK_FORWARD), 100, SCRIPT);
    capture_free(&capture, born(100, STACK_FORWARD), 100, SCRIPT);
}

static int64_t saving(enum finding_kind kind)
{
    return capture_saving(&capture, kind);
}

/* As in model.cuda().half(): each weight is freed as soon as the next one is there. */
static void convert(uint64_t size, const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(size, frames);
        capture_free(&capture, weights[i], WEIGHT, SCRIPT);
    }
}

START_TEST(a_model_is_converted_on_the_device)
{
    make(MOVE);
    convert(WEIGHT / 2, CONVERT);
    run();
    ck_assert_int_eq(saving(FINDING_RECAST_WEIGHTS), MODEL + WEIGHT / 2 - MODEL / 2 - 100);
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), -1);
}
END_TEST

START_TEST(weights_are_converted_by_hand)
{
    make(MOVE);
    convert(WEIGHT / 2, BY_HAND("_to_copy"));
    run();
    ck_assert_int_gt(saving(FINDING_RECAST_WEIGHTS), 0);
}
END_TEST

START_TEST(other_results_take_the_place_of_weights)
{
    make(MOVE);
    convert(WEIGHT / 2, BY_HAND("cat"));
    run();
    ck_assert_int_eq(saving(FINDING_RECAST_WEIGHTS), -1);
}
END_TEST

/* Something that is freed before the conversion needs its memory beside the converted weights, too.
 */
START_TEST(a_layer_is_copied_before_the_conversion)
{
    uint64_t layer = born(WEIGHT, MOVE);
    make(MOVE);
    capture_free(&capture, layer, WEIGHT, SCRIPT);
    convert(WEIGHT / 2, CONVERT);
    run();
    ck_assert_int_eq(saving(FINDING_RECAST_WEIGHTS), MODEL - MODEL / 2);
}
END_TEST

START_TEST(weights_are_replaced_by_others)
{
    make(MOVE);
    convert(WEIGHT - 512, CONVERT);
    run();
    ck_assert_int_eq(saving(FINDING_RECAST_WEIGHTS), -1);
}
END_TEST

/* A loader has one weight at a time in the dtype of the file. */
START_TEST(weights_are_converted_one_by_one)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        uint64_t weight = born(WEIGHT, MOVE);
        born(WEIGHT / 2, CONVERT);
        capture_free(&capture, weight, WEIGHT, SCRIPT);
    }
    run();
    ck_assert_int_eq(saving(FINDING_RECAST_WEIGHTS), -1);
}
END_TEST

/* Makes a model, runs it, and makes another, with `frames`, while it is there. */
static void replace(const char *frames)
{
    uint64_t earlier[LAYERS];
    make(MOVE);
    run();
    memcpy(earlier, weights, sizeof(weights));
    make(frames);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, earlier[i], WEIGHT, SCRIPT);
}

START_TEST(a_model_replaces_another)
{
    replace(MOVE);
    run();
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), MODEL - 100);
}
END_TEST

/* Removing only the first of two equal peaks would save nothing. */
START_TEST(a_model_is_replaced_twice)
{
    replace(MOVE);
    run();
    release();
    replace(MOVE);
    run();
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), MODEL - 100);
}
END_TEST

START_TEST(the_program_ends_without_running_the_last_model)
{
    replace(MOVE);
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), -1);
}
END_TEST

START_TEST(a_copy_takes_the_place_of_its_original)
{
    replace(COPIED);
    run();
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), -1);
}
END_TEST

START_TEST(a_model_stays_beside_another)
{
    make(MOVE);
    run();
    make(MOVE);
    run();
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), -1);
}
END_TEST

START_TEST(a_layer_is_replaced)
{
    make(MOVE);
    run();
    for (unsigned i = 0; i < 2; i++)
        born(WEIGHT, MOVE);
    for (unsigned i = 0; i < 2; i++)
        capture_free(&capture, weights[i], WEIGHT, SCRIPT);
    run();
    ck_assert_int_eq(saving(FINDING_EARLIER_MODEL), -1);
}
END_TEST

TCase *findings_weights_tests(void)
{
    TCase *tests = tcase_create("findings of weights");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_model_is_converted_on_the_device);
    tcase_add_test(tests, weights_are_converted_by_hand);
    tcase_add_test(tests, other_results_take_the_place_of_weights);
    tcase_add_test(tests, a_layer_is_copied_before_the_conversion);
    tcase_add_test(tests, weights_are_replaced_by_others);
    tcase_add_test(tests, weights_are_converted_one_by_one);
    tcase_add_test(tests, a_model_replaces_another);
    tcase_add_test(tests, a_model_is_replaced_twice);
    tcase_add_test(tests, the_program_ends_without_running_the_last_model);
    tcase_add_test(tests, a_copy_takes_the_place_of_its_original);
    tcase_add_test(tests, a_model_stays_beside_another);
    tcase_add_test(tests, a_layer_is_replaced);
    return tests;
}
