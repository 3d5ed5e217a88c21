/* Findings on second copies: of weights that were read from a file, of gradients in buckets, and of
 * buffers in layers. */
#include <string.h>

#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define WEIGHT 1000
#define LAYERS 3
#define INIT   PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define LOADED                                                                                     \
    PY("_deserialize", TORCH "serialization.py", 669)                                              \
    "," PY("load", TORCH "serialization.py", 1606) "," SCRIPT
#define SAFETENSORS                                                                                \
    PY("load_file", "/venv/lib/python3.12/site-packages/safetensors/torch.py", 388) "," SCRIPT
#define COPIED                                                                                     \
    PY("__deepcopy__", TORCH "nn/parameter.py", 70)                                                \
    "," PY("deepcopy", "/usr/lib/copy.py", 153) "," SCRIPT
#define DEEPCOPY                                                                                   \
    PY("__deepcopy__", TORCH "_tensor.py", 174)                                                    \
    "," PY("deepcopy", "/usr/lib/copy.py", 153) "," SCRIPT
#define BUCKET                                                                                     \
    CPP("at::_ops::empty_memory_format::call(x)")                                                  \
    "," PY("_pre_forward", TORCH "nn/parallel/distributed.py", 1797) "," CALL "," SCRIPT
#define ZERO_BUFFER(operator_, folder)                                                             \
    CPP("at::_ops::" operator_ "::call(x)")                                                        \
    "," PY("_setup_for_real_optimizer", folder "/deepspeed/runtime/zero/stage3.py", 782) "," SCRIPT
#define MOVED_BATCH                                                                                \
    PY("to_map", TORCH "distributed/utils.py", 130)                                                \
    "," PY("_pre_forward", TORCH "nn/parallel/distributed.py", 1790) "," CALL "," SCRIPT

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static void make_weights(const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(WEIGHT + i, frames);
}

static void accumulate(void)
{
    uint64_t saved = born(500, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, born(WEIGHT + i, STACK_BACKWARD), WEIGHT + i, STACK_BACKWARD);
    capture_free(&capture, saved, 500, STACK_BACKWARD);
}

/* A step of several passes, the first of which makes the gradients. */
static void train_step_of(unsigned passes)
{
    uint64_t saved = born(500, STACK_FORWARD), gradients[LAYERS];
    for (unsigned i = 0; i < LAYERS; i++)
        gradients[i] = born(WEIGHT + i, STACK_BACKWARD);
    capture_free(&capture, saved, 500, STACK_BACKWARD);
    for (unsigned i = 1; i < passes; i++)
        accumulate();
    capture_free(&capture, born(8, STACK_STEP), 8, STACK_STEP);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, gradients[i], WEIGHT + i, SCRIPT);
}

static void train_step(void)
{
    train_step_of(1);
}

static void train(void)
{
    for (unsigned step = 0; step < 3; step++)
        train_step();
}

static int64_t saving(enum finding_kind kind)
{
    return capture_saving(&capture, kind);
}

START_TEST(a_checkpoint_stays_beside_the_model)
{
    make_weights(INIT);
    make_weights(LOADED);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), 3 * WEIGHT + 3);
}
END_TEST

/* The optimizer keeps the states that it gets from the file. */
START_TEST(states_of_a_checkpoint_are_in_use)
{
    make_weights(INIT);
    make_weights(LOADED);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event_with(&capture, "alloc", 5000 + i, WEIGHT + i, LOADED,
                           ",\"category\":\"optimizer_state\"");
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), 3 * WEIGHT + 3);
}
END_TEST

/* A list of copies grows: one finding says so, and where to keep them. */
START_TEST(copies_of_the_weights_that_grow)
{
    make_weights(INIT);
    for (unsigned step = 0; step < 5; step++) {
        train_step();
        make_weights(DEEPCOPY);
    }
    train_step();
    ck_assert_int_eq(saving(FINDING_COPIED_WEIGHTS), -1);
    ck_assert_int_gt(saving(FINDING_GROWTH), 0);
    struct device_report *report = capture_report(&capture, 0);
    ck_assert_ptr_nonnull(strstr(report_finding(report, FINDING_GROWTH)->next, "state_dict()"));
    device_report_destroy(report);
}
END_TEST

/* Before the first step, states that were read cannot be told from weights. */
START_TEST(a_checkpoint_may_hold_states)
{
    make_weights(INIT);
    for (int i = 0; i <= _i; i++)
        make_weights(LOADED);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), (1 + _i) * (3 * WEIGHT + 3));
    struct device_report *report = capture_report(&capture, 0);
    ck_assert_int_eq(report_finding(report, FINDING_LOADED_WEIGHTS)->at_most, _i > 0);
    const char *what = report_finding(report, FINDING_LOADED_WEIGHTS)->what;
    ck_assert_int_eq(strstr(what, "and perhaps states") != NULL, _i > 0);
    device_report_destroy(report);
}
END_TEST

START_TEST(safetensors_stay_beside_the_model)
{
    make_weights(SAFETENSORS);
    make_weights(INIT);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), 3 * WEIGHT + 3);
}
END_TEST

START_TEST(the_model_itself_was_loaded)
{
    make_weights(LOADED);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), -1);
}
END_TEST

START_TEST(the_loaded_model_was_copied)
{
    make_weights(LOADED);
    make_weights(COPIED);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), -1);
}
END_TEST

START_TEST(a_part_of_the_model_was_loaded)
{
    make_weights(INIT);
    born(WEIGHT, LOADED);
    train();
    ck_assert_int_eq(saving(FINDING_LOADED_WEIGHTS), -1);
}
END_TEST

START_TEST(the_best_weights_are_copied)
{
    make_weights(INIT);
    train();
    make_weights(DEEPCOPY);
    train();
    ck_assert_int_eq(saving(FINDING_COPIED_WEIGHTS), 3 * WEIGHT + 3);
}
END_TEST

/* A copy of the module, such as a teacher, may run in each step. */
START_TEST(a_module_is_copied)
{
    make_weights(INIT);
    make_weights(COPIED);
    train();
    ck_assert_int_eq(saving(FINDING_COPIED_WEIGHTS), -1);
}
END_TEST

/* best = copy.deepcopy(model), each time that the model has improved. It may run, too. */
START_TEST(a_module_is_copied_again)
{
    uint64_t copies[LAYERS];
    make_weights(INIT);
    train();
    for (unsigned i = 0; i < LAYERS; i++)
        copies[i] = born(WEIGHT + i, COPIED);
    train();
    make_weights(COPIED);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, copies[i], WEIGHT + i, SCRIPT);
    train();
    capture_free(&capture, born(3 * WEIGHT, STACK_STEP), 3 * WEIGHT, STACK_STEP);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 0);
    const struct finding *finding = report_finding(report, FINDING_COPIED_WEIGHTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 3 * WEIGHT + 3);
    ck_assert(finding->at_most);
    ck_assert_ptr_nonnull(strstr(finding->what, "A copy of the model, made at "));
    device_report_destroy(report);
}
END_TEST

/* Copies from before the first backward pass may be an average of weights, which steps update. */
static void expect_use(bool before)
{
    make_weights(INIT);
    if (!before)
        train();
    make_weights(DEEPCOPY);
    train();
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 0);
    const struct finding *finding = report_finding(report, FINDING_COPIED_WEIGHTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert(finding->at_most == before);
    device_report_destroy(report);
}

START_TEST(weights_are_copied_before_training)
{
    expect_use(true);
}
END_TEST

START_TEST(weights_are_copied_after_training)
{
    expect_use(false);
}
END_TEST

/* The weights are older than the recording. */
START_TEST(weights_that_are_not_recorded_are_copied)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 9000 + 10000 * i, WEIGHT + i, "");
    train();
    make_weights(DEEPCOPY);
    train();
    ck_assert_int_eq(saving(FINDING_COPIED_WEIGHTS), 3 * WEIGHT + 3);
}
END_TEST

START_TEST(other_tensors_are_copied)
{
    make_weights(INIT);
    for (unsigned i = 0; i < LAYERS; i++)
        born(2 * WEIGHT, DEEPCOPY);
    train();
    ck_assert_int_eq(saving(FINDING_COPIED_WEIGHTS), -1);
}
END_TEST

START_TEST(buckets_beside_gradients)
{
    make_weights(INIT);
    born(3 * WEIGHT + 3, BUCKET);
    train();
    ck_assert_int_eq(saving(FINDING_GRADIENT_BUCKETS), 3 * WEIGHT + 3);
}
END_TEST

/* Passes under no_sync() make gradients beside the buckets, unless zero_grad() keeps the views. */
START_TEST(buckets_beside_accumulated_gradients)
{
    make_weights(INIT);
    born(3 * WEIGHT + 3, BUCKET);
    for (unsigned step = 0; step < 3; step++)
        train_step_of(_i == 0 ? 1 : 2);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 0);
    const struct finding *finding = report_finding(report, FINDING_GRADIENT_BUCKETS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(strstr(finding->next, "set_to_none=False") != NULL, _i == 1);
    device_report_destroy(report);
}
END_TEST

/* Its gradients of the partition are made next to it, but with values. */
START_TEST(the_bucket_of_deepspeed)
{
    static const char *const buckets[] = {
        ZERO_BUFFER("empty_memory_format", "/venv/lib/python3.12/site-packages"),
        ZERO_BUFFER("empty_memory_format", "/home/u/DeepSpeed"),
    };
    make_weights(INIT);
    born(9000, buckets[_i]);
    born(3 * WEIGHT + 3, ZERO_BUFFER("zeros", "/home/u/DeepSpeed"));
    train();
    ck_assert_int_eq(saving(FINDING_REDUCE_BUCKET), 8100);
    ck_assert_int_eq(saving(FINDING_GRADIENT_BUCKETS), -1);
}
END_TEST

START_TEST(a_batch_that_was_moved_is_no_bucket)
{
    make_weights(INIT);
    born(3 * WEIGHT + 3, MOVED_BATCH);
    train();
    ck_assert_int_eq(saving(FINDING_GRADIENT_BUCKETS), -1);
}
END_TEST

#define MASK (2 << 20)

/* A model each of whose layers has so many weights, after a buffer. */
static void make_layers(unsigned weights, uint64_t other)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(MASK, INIT);
        born(other, INIT);
        for (unsigned j = 0; j < weights; j++)
            born(WEIGHT + j, INIT);
    }
}

START_TEST(each_layer_has_a_mask)
{
    make_layers(LAYERS, WEIGHT);
    train();
    ck_assert_int_eq(saving(FINDING_LAYER_BUFFERS), LAYERS * MASK);
}
END_TEST

/* An adapter has two weights. */
START_TEST(frozen_weights_with_adapters)
{
    make_layers(1, WEIGHT + 1);
    train();
    ck_assert_int_eq(saving(FINDING_LAYER_BUFFERS), -1);
}
END_TEST

START_TEST(frozen_weights_of_several_sizes)
{
    make_layers(LAYERS, MASK / 2);
    train();
    ck_assert_int_eq(saving(FINDING_LAYER_BUFFERS), -1);
}
END_TEST

#define DEEPCOPY_AT(line)                                                                          \
    PY("__deepcopy__", TORCH "_tensor.py", 174)                                                    \
    "," PY("deepcopy", "/usr/lib/copy.py", 153) "," PY("keep", "/home/u/train.py", line)

/* The first copy is of another line than most of them. */
START_TEST(the_line_that_copies_most_is_named)
{
    make_weights(INIT);
    born(WEIGHT, DEEPCOPY_AT(20));
    born(WEIGHT + 1, DEEPCOPY_AT(30));
    born(WEIGHT + 2, DEEPCOPY_AT(30));
    train();
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    const struct finding *finding = report_finding(report, FINDING_COPIED_WEIGHTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "train.py:30 keep"));
    ck_assert_str_eq(finding->where, "train.py:30 keep");
    device_report_destroy(report);
}
END_TEST

TCase *findings_copies_tests(void)
{
    TCase *tests = tcase_create("findings of copies");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_checkpoint_stays_beside_the_model);
    tcase_add_test(tests, the_line_that_copies_most_is_named);
    tcase_add_test(tests, states_of_a_checkpoint_are_in_use);
    tcase_add_loop_test(tests, a_checkpoint_may_hold_states, 0, 2);
    tcase_add_test(tests, copies_of_the_weights_that_grow);
    tcase_add_test(tests, safetensors_stay_beside_the_model);
    tcase_add_test(tests, the_model_itself_was_loaded);
    tcase_add_test(tests, the_loaded_model_was_copied);
    tcase_add_test(tests, a_part_of_the_model_was_loaded);
    tcase_add_test(tests, the_best_weights_are_copied);
    tcase_add_test(tests, a_module_is_copied);
    tcase_add_test(tests, a_module_is_copied_again);
    tcase_add_test(tests, weights_are_copied_before_training);
    tcase_add_test(tests, weights_are_copied_after_training);
    tcase_add_test(tests, weights_that_are_not_recorded_are_copied);
    tcase_add_test(tests, other_tensors_are_copied);
    tcase_add_test(tests, buckets_beside_gradients);
    tcase_add_loop_test(tests, buckets_beside_accumulated_gradients, 0, 2);
    tcase_add_loop_test(tests, the_bucket_of_deepspeed, 0, 2);
    tcase_add_test(tests, a_batch_that_was_moved_is_no_bucket);
    tcase_add_test(tests, each_layer_has_a_mask);
    tcase_add_test(tests, frozen_weights_with_adapters);
    tcase_add_test(tests, frozen_weights_of_several_sizes);
    return tests;
}
