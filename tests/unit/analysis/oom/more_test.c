/* What a forward pass of inference, and an optimizer's first step, would still have needed. */
#include <string.h>

#include "analysis/oom/next.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define NO_GRAD PY("decorate_context", TORCH "utils/_contextlib.py", 116) "," SCRIPT
#define LAYER                                                                                      \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," NO_GRAD
#define INPUT  CPP("at::_ops::rand::call(x)") "," SCRIPT
#define LAYERS 6
#define SIZE   1024

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

static struct device_report *failed(const char *frames, uint64_t size)
{
    capture_event(&capture, "oom", 0, size, frames);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    ck_assert_uint_ge(report->ooms.count, 1);
    return report;
}

/* Layers of a pass whose results stay until it is over, as those in a cache. */
static void layers(uint64_t size, unsigned count, uint64_t results[LAYERS])
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t scratch = born(size / 2, LAYER);
        results[i] = born(size, LAYER);
        capture_free(&capture, scratch, size / 2, LAYER);
    }
}

static void infer(uint64_t size, bool fails)
{
    uint64_t results[LAYERS];
    uint64_t input = born(size, INPUT);
    layers(size, LAYERS, results);
    if (fails)
        capture_event(&capture, "oom", 0, size, LAYER);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, results[i], size, NO_GRAD);
    capture_free(&capture, input, size, NO_GRAD);
}

/* The third layer fails for a batch that is twice as large as that of the pass before the last. If
 * its first layer holds more than that, the passes are not alike. Nor does a pass that failed as
 * well show what it needs. */
START_TEST(an_earlier_pass_shows_the_rest)
{
    uint64_t results[LAYERS], size = 4 * SIZE;
    infer(2 * SIZE, _i == 2);
    infer(SIZE / 2, false);
    born(size, INPUT);
    if (_i == 1)
        born(4 * size, LAYER);
    layers(size, 2, results);
    struct device_report *report = failed(LAYER, size / 2);
    const struct oom_row *row = &report->ooms.items[report->ooms.count - 1];
    ck_assert_int_eq(row->step_bytes, _i == 0 ? (int64_t)((1 + LAYERS) * size + size / 2) : 0);
    if (_i == 0) {
        ck_assert_int_eq(row->like_step, 0);
        ck_assert_int_eq((int)row->like_times, 2);
    }
    device_report_destroy(report);
}
END_TEST

/* The first pass keeps a result of each layer, or only those of the last two. */
START_TEST(a_first_pass_that_keeps_results_needs_more)
{
    uint64_t before[2] = {born(SIZE, LAYER), born(SIZE, LAYER)};
    for (unsigned i = 0; i < 20; i++) {
        uint64_t result = born(SIZE, LAYER);
        if (_i == 1)
            capture_free(&capture, before[0], SIZE, LAYER);
        before[0] = before[1];
        before[1] = result;
    }
    struct device_report *report = failed(LAYER, SIZE);
    ck_assert(report->ooms.items[0].rest_is_unknown == (_i == 0));
    ck_assert_int_eq(report->ooms.items[0].step_bytes, 0);
    device_report_destroy(report);
}
END_TEST

#define STACK_SQUARES                                                                              \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", "/home/u/optimizer.py", 9) "," PY("wrapper", TORCH "optim/optimizer.py",        \
                                                     533) "," SCRIPT

static void learn(void)
{
    uint64_t saved = born(SIZE, STACK_FORWARD);
    for (unsigned i = 1; i <= 3; i++)
        born(i * SIZE, STACK_BACKWARD);
    capture_free(&capture, saved, SIZE, STACK_BACKWARD);
}

#define OTHER_SCRIPT PY("<module>", "/home/u/train.py", 99)
#define OTHER_STEP                                                                                 \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", "/home/u/other.py", 7) "," PY("wrapper", TORCH "optim/optimizer.py",            \
                                                 533) "," SCRIPT

/* Three weights have gradients. The first optimizer step makes two states for each, and the fourth
 * request fails. If another optimizer has made states before, the rest is not known. */
START_TEST(an_optimizer_needs_the_other_states)
{
    learn();
    if (_i == 1) {
        born(SIZE, OTHER_STEP);
        learn();
    }
    born(SIZE, STACK_STEP);
    born(SIZE, STACK_SQUARES);
    born(2 * SIZE, STACK_STEP);
    struct device_report *report = failed(STACK_SQUARES, 2 * SIZE);
    const struct oom_row *row = &report->ooms.items[0];
    ck_assert_int_eq(row->state_made_bytes, _i == 0 ? 4 * SIZE : 0);
    ck_assert_int_eq(row->state_rest_bytes, _i == 0 ? 8 * SIZE : 0);
    ck_assert_int_eq(row->step_bytes, _i == 0 ? (6 + 12) * SIZE : 0);
    device_report_destroy(report);
}
END_TEST

/* A classifier is trained first, by the same line of a function that is called from another one. */
START_TEST(an_optimizer_needs_states_of_thawed_weights)
{
    static const char from_other[] =
        CPP("at::_ops::zeros_like::call(x)") "," PY("step", "/home/u/optimizer.py", 7) "," PY(
            "wrapper", TORCH "optim/optimizer.py", 533) "," OTHER_SCRIPT;
    static const char squares[] =
        CPP("at::_ops::zeros_like::call(x)") "," PY("step", "/home/u/optimizer.py", 9) "," PY(
            "wrapper", TORCH "optim/optimizer.py", 533) "," OTHER_SCRIPT;
    born(SIZE, STACK_BACKWARD);
    born(SIZE, from_other);
    born(SIZE, squares);
    learn();
    born(SIZE, STACK_STEP);
    born(SIZE, STACK_SQUARES);
    struct device_report *report = failed(STACK_STEP, 2 * SIZE);
    const struct oom_row *row = &report->ooms.items[0];
    ck_assert_int_eq(row->state_made_bytes, 4 * SIZE);
    ck_assert_int_eq(row->state_rest_bytes, 10 * SIZE);
    device_report_destroy(report);
}
END_TEST

#define STACK_FOREACH                                                                              \
    CPP("at::_ops::_foreach_sqrt::call(x)")                                                        \
    "," PY("step", TORCH "optim/adamw.py", 7) "," PY("wrapper", TORCH "optim/optimizer.py",        \
                                                     533) "," SCRIPT

#define PYTHON_STEP(name, file)                                                                    \
    PY(name, TORCH "optim/" file, 620)                                                             \
    "," PY("step", TORCH "optim/" file, 7) "," PY("wrapper", TORCH "optim/optimizer.py",           \
                                                  533) "," SCRIPT

/* All states are there, and the step computes with lists of tensors. What is in them when memory
 * runs out is no state. Without C++ frames, a function shows it, unless it makes states, too. */
START_TEST(an_optimizer_computes_with_lists)
{
    static const char *const makes[] = {STACK_STEP, PYTHON_STEP("_init_group", "adamw.py"),
                                        PYTHON_STEP("_multi_tensor_sgd", "sgd.py")};
    static const char *const computes[] = {STACK_FOREACH,
                                           PYTHON_STEP("_multi_tensor_adamw", "adamw.py"),
                                           PYTHON_STEP("_multi_tensor_sgd", "sgd.py")};
    learn();
    for (unsigned i = 0; i < 6; i++)
        born((i / 2 + 1) * SIZE, makes[_i]);
    born(SIZE, computes[_i]);
    struct device_report *report = failed(computes[_i], 2 * SIZE);
    const struct oom_row *row = &report->ooms.items[0];
    ck_assert_int_eq(row->of_temporaries, _i < 2);
    for (size_t i = 0; i < report->category_count; i++)
        if (report->categories[i].category == CATEGORY_OPTIMIZER_STATE)
            ck_assert_int_eq(report->categories[i].bytes, (_i < 2 ? 12 : 13) * SIZE);
    device_report_destroy(report);
}
END_TEST

/* A setting that makes room for the request is no advice if the rest of the step does not fit: more
 * than 100 bytes are missing. */
START_TEST(a_setting_for_one_request_is_no_remedy)
{
    static const char setting[] = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
    struct oom_row row = {.verdict = OOM_FRAGMENTATION,
                          .at = {.reserved_bytes = 900},
                          .device_free_bytes = 50,
                          .layout = {.pool_bytes = 70},
                          .step_bytes = _i == 0   ? 950
                                        : _i == 3 ? 0
                                                  : 1050,
                          .rest_is_unknown = _i == 3,
                          .of_temporaries = _i == 4,
                          .of_logits = _i == 5 || _i == 6,
                          .of_attention = _i == 7 || _i == 8,
                          .requested_bytes = 4608,
                          .earlier_bytes = _i >= 8 ? 512 : 0,
                          .like_times = _i == 6 ? 3 : 1,
                          .like_step = 7,
                          .state_rest_bytes = _i == 2 ? 300 : 0};
    struct ooms ooms = {.items = &row, .count = 1};
    strcpy(row.next, setting);
    oom_next_add(&ooms, "step", UNIT_AUTO);
    ck_assert(strstr(row.next, setting) == (_i == 0 ? row.next : NULL));
    ck_assert((strstr(row.next, "save 100 B or more") != NULL) == (_i == 1));
    ck_assert((strstr(row.next, "less optimizer state") != NULL) == (_i == 2));
    ck_assert((strstr(row.next, "at most 70 B more usable") != NULL) == (_i == 3));
    ck_assert((strstr(row.next, "fused=True") != NULL) == (_i == 4));
    ck_assert((strstr(row.next, "the logits and the loss for a part") != NULL) == (_i == 5));
    ck_assert((strstr(row.next, "3.0 times the activations that step 7 held") != NULL) ==
              (_i == 6));
    ck_assert((strstr(row.next, "a fused kernel") != NULL) == (_i == 7 || _i == 8));
    ck_assert((strstr(row.next, "9.0 times as large as any") != NULL) == (_i >= 8));
}
END_TEST

/* With the setting, the rest of the step fits, too; with `_i`, nothing shows that. */
START_TEST(a_setting_comes_before_a_cause)
{
    static const char setting[] = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
    struct oom_row row = {.verdict = OOM_FRAGMENTATION,
                          .at = {.reserved_bytes = 900},
                          .device_free_bytes = 50,
                          .layout = {.pool_bytes = 70},
                          .step_bytes = _i == 0   ? 940
                                        : _i == 1 ? 960
                                                  : 0,
                          .like_times = 1,
                          .setting_fits = _i != 3,
                          .of_logits = true};
    struct ooms ooms = {.items = &row, .count = 1};
    strcpy(row.next, setting);
    oom_next_add(&ooms, "step", UNIT_AUTO);
    ck_assert((strstr(row.next, setting) == row.next) == (_i == 0));
    ck_assert((strstr(row.next, "the logits and the loss for a part") != NULL) == (_i > 0));
}
END_TEST

TCase *oom_more_tests(void)
{
    TCase *tests = tcase_create("rest of a pass");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, an_earlier_pass_shows_the_rest, 0, 3);
    tcase_add_loop_test(tests, a_setting_comes_before_a_cause, 0, 4);
    tcase_add_loop_test(tests, a_setting_for_one_request_is_no_remedy, 0, 10);
    tcase_add_loop_test(tests, a_first_pass_that_keeps_results_needs_more, 0, 2);
    tcase_add_loop_test(tests, an_optimizer_needs_the_other_states, 0, 2);
    tcase_add_test(tests, an_optimizer_needs_states_of_thawed_weights);
    tcase_add_loop_test(tests, an_optimizer_computes_with_lists, 0, 3);
    return tests;
}
