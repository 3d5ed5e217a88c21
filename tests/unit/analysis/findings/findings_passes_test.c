/* Findings on the pass or the step in which the peak lies. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

static uint64_t born(uint64_t size, const char *frames)
{
    return capture_alloc(&capture, size, frames);
}

/* The tensors of a step are `size` bytes large. */
static void train(uint64_t size)
{
    uint64_t saved = born(size, STACK_FORWARD), loss = born(8, STACK_LOSS);
    uint64_t gradient = born(100, STACK_BACKWARD);
    capture_free(&capture, saved, size, STACK_BACKWARD);
    capture_free(&capture, loss, 8, SCRIPT);
    uint64_t scratch = born(100, STACK_STEP);
    capture_free(&capture, scratch, 100, STACK_STEP);
    capture_free(&capture, gradient, 100, STACK_STEP);
}

/* The first layer's result is freed when the second has its own, and so on: nothing is kept. */
static void evaluate_until(uint64_t size, bool fails, const char *end)
{
    uint64_t before = born(size, STACK_FORWARD);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t result = born(size, STACK_FORWARD);
        capture_free(&capture, before, size, STACK_FORWARD);
        before = result;
    }
    if (fails)
        capture_event(&capture, "oom", 0, size, STACK_FORWARD);
    capture_free(&capture, before, size, end);
}

static void evaluate(uint64_t size, bool fails)
{
    evaluate_until(size, fails, SCRIPT);
}

static int64_t saving(enum finding_kind kind)
{
    return capture_saving(&capture, kind);
}

START_TEST(an_evaluation_reaches_the_peak)
{
    train(1000);
    train(1000);
    evaluate(2000, false);
    born(8, SCRIPT);
    train(1000);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), 4000 - 1116);
}
END_TEST

START_TEST(an_evaluation_ends_the_trace)
{
    train(1000);
    train(1000);
    evaluate(2000, false);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), 4000 - 1108);
}
END_TEST

START_TEST(training_reaches_the_peak)
{
    train(1000);
    train(5000);
    evaluate(2000, false);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
}
END_TEST

/* A frozen model with a trained layer on top keeps little for the backward pass. */
START_TEST(a_backward_pass_follows)
{
    train(1000);
    evaluate_until(2000, false, STACK_FORWARD);
    train(10);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
}
END_TEST

/* torch.compile times the kernels of the first step with a large buffer. Plain code lies between
 * the model and the module that computes the loss. */
START_TEST(a_kernel_is_timed)
{
    train(1000);
    uint64_t saved = born(100, STACK_FORWARD);
    capture_free(&capture, born(9000, STACK_FORWARD), 9000, STACK_FORWARD);
    uint64_t result = born(100, STACK_FORWARD), square = born(100, SCRIPT);
    uint64_t loss = born(8, STACK_FORWARD);
    capture_free(&capture, square, 100, SCRIPT);
    uint64_t gradient = born(100, STACK_BACKWARD);
    capture_free(&capture, saved, 100, STACK_BACKWARD);
    capture_free(&capture, result, 100, STACK_BACKWARD);
    capture_free(&capture, loss, 8, SCRIPT);
    capture_free(&capture, gradient, 100, STACK_STEP);
    train(1000);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
}
END_TEST

START_TEST(a_pass_that_fails_may_have_been_training)
{
    train(1000);
    train(1000);
    evaluate(2000, true);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
}
END_TEST

/* What it had saved is never freed in the trace. */
START_TEST(a_backward_pass_runs_out_of_memory)
{
    train(1000);
    born(3000, STACK_FORWARD);
    capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD); /* the peak */
    born(10, STACK_BACKWARD);
    capture_event(&capture, "oom", 0, 5000, STACK_BACKWARD);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), 3000);
}
END_TEST

START_TEST(one_step_has_larger_tensors)
{
    for (unsigned i = 0; i < 6; i++)
        train(i == 3 ? 3000 : 1000 + i);
    ck_assert_int_eq(saving(FINDING_UNEVEN_STEPS), 2000 - 4);
}
END_TEST

START_TEST(steps_are_alike)
{
    for (unsigned i = 0; i < 6; i++)
        train(1000 + i);
    ck_assert_int_eq(saving(FINDING_UNEVEN_STEPS), -1);
}
END_TEST

/* Such as one in which more layers keep something for the backward pass. */
START_TEST(one_step_keeps_more_of_the_same)
{
    for (unsigned i = 0; i < 6; i++) {
        uint64_t saved[4];
        for (unsigned j = 0; j < 4; j++) {
            saved[j] = born(1000, STACK_FORWARD);
            if (i != 3)
                capture_free(&capture, saved[j], 1000, STACK_FORWARD);
        }
        if (i == 3)
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
        train(1000);
        for (unsigned j = 0; i == 3 && j < 4; j++)
            capture_free(&capture, saved[j], 1000, SCRIPT);
    }
    ck_assert_int_eq(saving(FINDING_UNEVEN_STEPS), -1);
}
END_TEST

/* Such as one that also evaluates or writes a picture. */
START_TEST(one_step_does_more)
{
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned j = 0; i == 3 && j < 20; j++)
            capture_free(&capture, born(2000, SCRIPT), 2000, SCRIPT);
        train(i == 3 ? 3000 : 1000);
    }
    ck_assert_int_eq(saving(FINDING_UNEVEN_STEPS), -1);
}
END_TEST

/* Passes of 20 tensors, of which the last `kept` are never freed. */
static void collect_results(unsigned passes, unsigned kept)
{
    uint64_t made[20], batch = 0;
    for (unsigned pass = 0; pass < passes; pass++) {
        for (unsigned i = 0; i < 20; i++)
            made[i] = born(1000, STACK_FORWARD);
        for (unsigned i = 0; i < 20 - kept; i++)
            capture_free(&capture, made[i], 1000, STACK_FORWARD);
        uint64_t next = born(600, SCRIPT);
        if (batch)
            capture_free(&capture, batch, 600, SCRIPT);
        batch = next;
    }
    capture_event(&capture, "oom", 0, 50000, SCRIPT);
}

START_TEST(results_are_collected)
{
    train(1000);
    collect_results(5, 1);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), 5000);
}
END_TEST

/* With `_i`, torch.cat() joins them. */
START_TEST(collected_results_are_joined)
{
    train(1000);
    for (unsigned pass = 0; pass < 5; pass++) {
        born(1000, STACK_FORWARD);
        for (unsigned i = 0; i < 19; i++)
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
        born(8, SCRIPT);
    }
    born(_i == 0 ? 700 : 5000, CPP("at::_ops::cat::call(x)") "," SCRIPT);
    capture_event(&capture, "oom", 0, 50000, SCRIPT);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), _i == 0 ? 5000 : 10000);
}
END_TEST

/* What plain code computes from the results, as the logarithms of probabilities, and keeps. The
 * last two might still be freed after the next pass, and the trace may end within the last pass. */
START_TEST(what_is_computed_from_results_is_collected)
{
    train(1000);
    for (unsigned pass = 0; pass < 6; pass++) {
        for (unsigned i = 0; i < 20; i++)
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
        born(2000, CPP("at::_ops::_log_softmax::call(x)") "," SCRIPT);
    }
    for (unsigned i = 0; i < 20; i++)
        capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
    capture_event(&capture, "oom", 0, 50000, SCRIPT);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), 8000);
}
END_TEST

/* The pass of a small generator comes before: too few tensors to tell whether it keeps a graph. */
START_TEST(what_is_computed_between_two_models_is_collected)
{
    train(1000);
    for (unsigned pass = 0; pass < 6; pass++) {
        for (unsigned i = 0; i < 3; i++)
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
        born(2000, CPP("at::_ops::upsample_bilinear2d::call(x)") "," SCRIPT);
        for (unsigned i = 0; i < 20; i++)
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
        born(8, SCRIPT);
    }
    capture_event(&capture, "oom", 0, 50000, SCRIPT);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), 10000);
}
END_TEST

/* Each graph has its results in its own pool, and writes them there again when it is replayed. */
START_TEST(results_of_cuda_graphs_stay_where_they_are)
{
    const char *pool = _i == 0 ? ",\"pool_id\":[1,0]" : ",\"pool_id\":[0,0]";
    uint64_t batch = 0;
    train(1000);
    for (uint64_t pass = 1; pass <= 5; pass++) {
        for (uint64_t i = 0; i < 20; i++)
            capture_event_with(&capture, "alloc", 10000 * pass + i, 1000, STACK_FORWARD, pool);
        for (uint64_t i = 0; i < 19; i++)
            capture_free(&capture, 10000 * pass + i, 1000, STACK_FORWARD);
        uint64_t next = born(600, SCRIPT);
        if (batch)
            capture_free(&capture, batch, 600, SCRIPT);
        batch = next;
    }
    capture_event(&capture, "oom", 0, 50000, SCRIPT);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), _i == 0 ? -1 : 5000);
}
END_TEST

/* A pass that keeps 20 tensors for its backward pass. */
static void train_deep(void)
{
    uint64_t saved[20];
    for (unsigned i = 0; i < 20; i++)
        saved[i] = born(1000, STACK_FORWARD);
    uint64_t gradient = born(100, STACK_BACKWARD);
    for (unsigned i = 0; i < 20; i++)
        capture_free(&capture, saved[i], 1000, STACK_BACKWARD);
    capture_free(&capture, born(100, STACK_STEP), 100, STACK_STEP);
    capture_free(&capture, gradient, 100, STACK_STEP);
}

/* Such as the hidden states of every layer. */
START_TEST(results_of_layers_are_collected)
{
    train_deep();
    train_deep();
    collect_results(5, _i == 0 ? 5 : 6);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), _i == 0 ? 25000 : -1);
}
END_TEST

START_TEST(what_waits_for_a_backward_pass_is_no_result)
{
    train(1000);
    collect_results(5, 3);
    ck_assert_int_eq(saving(FINDING_PASS_RESULTS), -1);
}
END_TEST

START_TEST(what_waits_for_a_backward_pass_is_activations)
{
    train(1000);
    collect_results(5, 3);
    ck_assert_int_gt(saving(FINDING_ACTIVATIONS), 0);
}
END_TEST

START_TEST(two_results_may_be_those_of_the_last_passes)
{
    train(1000);
    collect_results(2, 1);
    ck_assert_int_eq(saving(_i == 0 ? FINDING_PASS_RESULTS : FINDING_ACTIVATIONS), -1);
}
END_TEST

static void train_on_data(unsigned steps)
{
    born(20, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    born(5000, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
    for (unsigned i = 0; i < steps; i++) {
        uint64_t batch = born(300, CPP("at::_ops::index_Tensor::call(x)") "," SCRIPT);
        train(1000);
        capture_free(&capture, batch, 300, SCRIPT);
    }
}

START_TEST(the_data_set_is_on_the_device)
{
    train_on_data(3);
    ck_assert_int_eq(saving(FINDING_RESIDENT_DATA), 5000);
}
END_TEST

/* With one step, the data may be the first batch. */
START_TEST(one_step_tells_nothing_of_data_sets)
{
    train_on_data(1);
    ck_assert_int_eq(saving(FINDING_RESIDENT_DATA), -1);
}
END_TEST

#define PASSES 3
#define SAVED  9 /* of a pass */
#define BATCH  CPP("at::_ops::_to_copy::call(x)") "," SCRIPT
#define STATE  CPP("at::_ops::zeros::call(x)") "," SCRIPT

/* Passes that one backward pass follows, each with an allocation of `batch` at its beginning. */
static void sum_losses(const char *batch, size_t last)
{
    uint64_t saved[PASSES][SAVED], batches[PASSES];
    for (unsigned pass = 0; pass < PASSES; pass++) {
        batches[pass] = born(600, batch);
        for (unsigned i = 0; i < (pass + 1 < PASSES ? SAVED : last); i++)
            saved[pass][i] = born(1000, STACK_FORWARD);
        born(8, STACK_LOSS);
    }
    uint64_t gradient = born(100, STACK_BACKWARD);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (unsigned i = 0; i < (pass + 1 < PASSES ? SAVED : last); i++)
            capture_free(&capture, saved[pass][i], 1000, ENGINE);
        capture_free(&capture, batches[pass], 600, SCRIPT);
    }
    capture_free(&capture, born(100, STACK_STEP), 100, STACK_STEP);
    capture_free(&capture, gradient, 100, STACK_STEP);
}

START_TEST(a_backward_pass_for_several_batches)
{
    sum_losses(BATCH, SAVED);
    sum_losses(BATCH, SAVED);
    ck_assert_int_eq(saving(FINDING_SUMMED_LOSSES), (PASSES - 1) * (SAVED * 1000 + 600));
}
END_TEST

/* The program copies its weights after each step, before the next batches. */
START_TEST(copies_come_before_the_first_batch)
{
    for (int step = 0; step < 2; step++) {
        for (unsigned i = 0; i < 9; i++)
            born(700 + i, CPP("at::_ops::clone::call(x)") "," SCRIPT);
        sum_losses(BATCH, SAVED);
    }
    ck_assert_int_eq(saving(FINDING_SUMMED_LOSSES), (PASSES - 1) * (SAVED * 1000 + 600));
}
END_TEST

/* Meta-learning: each pass needs gradients of its own. */
START_TEST(passes_that_contain_backward_passes)
{
    uint64_t saved[PASSES][SAVED], batches[PASSES];
    for (unsigned pass = 0; pass < PASSES; pass++) {
        batches[pass] = born(600, BATCH);
        for (unsigned i = 0; i < SAVED; i++)
            saved[pass][i] = born(1000, STACK_FORWARD);
        born(700, STACK_BACKWARD);
        born(800, STACK_FORWARD);
    }
    born(8, STACK_LOSS);
    born(100, STACK_BACKWARD);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (unsigned i = 0; i < SAVED; i++)
            capture_free(&capture, saved[pass][i], 1000, ENGINE);
        capture_free(&capture, batches[pass], 600, SCRIPT);
    }
    born(100, STACK_STEP);
    ck_assert_int_ge(saving(FINDING_SUMMED_LOSSES), (PASSES - 1) * SAVED * 1000);
}
END_TEST

/* An ensemble on one batch. A recurrent network has one backward pass through all of its steps. */
START_TEST(passes_with_backward_passes_of_their_own)
{
    uint64_t saved[PASSES][SAVED];
    born(600, BATCH);
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (unsigned i = 0; i < SAVED; i++)
            saved[pass][i] = born(1000, STACK_FORWARD);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        born(8, STACK_BACKWARD);
        for (unsigned i = 0; i < SAVED; i++)
            capture_free(&capture, saved[pass][i], 1000, ENGINE);
        if (_i == 0)
            born(8, STACK_STEP);
    }
    born(8, STACK_STEP);
    ck_assert_int_eq(saving(FINDING_SUMMED_LOSSES), _i == 0 ? (PASSES - 1) * SAVED * 1000 : -1);
}
END_TEST

/* The passes of a recurrent network need each other's results. */
START_TEST(passes_that_make_no_batch)
{
    sum_losses(STATE, SAVED);
    sum_losses(STATE, SAVED);
    ck_assert_int_eq(saving(FINDING_SUMMED_LOSSES), -1);
}
END_TEST

START_TEST(passes_that_differ)
{
    sum_losses(BATCH, SAVED - 1);
    sum_losses(BATCH, SAVED - 1);
    ck_assert_int_eq(saving(FINDING_SUMMED_LOSSES), -1);
}
END_TEST

#define STACK_EVALUATION                                                                           \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/model.py", 3) "," CALL "," PY("evaluate", "/home/u/train.py", 30)

/* A pass that keeps all it makes runs out of memory. Training calls the model at another line than
 * an evaluation; the first pass of all may be either. */
START_TEST(a_failed_pass_may_be_an_evaluation)
{
    static const struct {
        bool trains;
        const char *stack;
        int64_t saving;
    } cases[] = {
        {true, STACK_EVALUATION, 8000}, {true, STACK_FORWARD, -1}, {false, STACK_EVALUATION, -1}};
    for (unsigned i = 0; i < 2 && cases[_i].trains; i++)
        train(1000);
    for (unsigned i = 0; i < 4; i++)
        born(2000, cases[_i].stack);
    capture_event(&capture, "oom", 0, 2000, cases[_i].stack);
    ck_assert_int_eq(saving(FINDING_NO_GRAD), cases[_i].saving);
}
END_TEST

#define STACK_CAT CPP("at::_ops::cat::call(x)") "," PY("add", "/home/u/metrics.py", 8) "," SCRIPT

#define STACK_SUBTRACT                                                                             \
    CPP("at::_ops::sub_Tensor::call(x)") "," PY("add", "/home/u/metrics.py", 8) "," SCRIPT

#define STACK_RESIZE                                                                               \
    CPP("at::_ops::upsample_nearest2d::call(x)") "," PY("add", "/home/u/metrics.py", 8) "," SCRIPT

/* An evaluation concatenates its scores, and needs the old and the new tensor at once. Tensors of
 * one size that replace each other gather nothing, nor do large ones that are freed first, nor
 * differences or interpolations of larger and larger operands. */
START_TEST(results_that_are_concatenated)
{
    uint64_t all = 0, before = 0, frees_first = _i == 2;
    train(1000);
    for (unsigned batch = 2; batch < 7; batch++) {
        uint64_t scores = born(1000, STACK_EVALUATION), size = _i == 1 ? 4000 : 1000 * batch;
        if (all > 0 && frees_first)
            capture_free(&capture, all, before, SCRIPT);
        uint64_t joined = born(size, _i == 3 ? STACK_SUBTRACT : _i == 4 ? STACK_RESIZE : STACK_CAT);
        if (all > 0 && !frees_first)
            capture_free(&capture, all, before, SCRIPT);
        capture_free(&capture, scores, 1000, SCRIPT);
        all = joined;
        before = size;
    }
    capture_free(&capture, all, before, SCRIPT);
    train(1000);
    if (_i > 0) {
        ck_assert_int_eq(saving(FINDING_CONCATENATED), -1);
        return;
    }
    /* the last two tensors hold 11000; without them the peak is that of training */
    ck_assert_int_ge(saving(FINDING_CONCATENATED), 10000);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
    ck_assert_int_eq(saving(FINDING_PLAIN_RESULTS), -1);
}
END_TEST

/* What waits to be concatenated goes as well, the very first result included; but not if a list
 * keeps it. Without all of it, the peak is that of training. */
START_TEST(results_that_wait_to_be_concatenated)
{
    uint64_t all = 0, kept[7] = {0};
    train(1000);
    for (unsigned batch = 1; batch < 7; batch++) {
        uint64_t scores = born(3000, STACK_EVALUATION);
        uint64_t joined = batch == 1 ? scores : born(3000 * batch, STACK_CAT);
        if (batch > 1)
            capture_free(&capture, all, 3000 * (batch - 1), SCRIPT);
        if (batch > 1 && _i == 0)
            capture_free(&capture, scores, 3000, SCRIPT);
        kept[batch] = batch > 1 && _i == 1 ? scores : 0;
        all = joined;
    }
    for (unsigned batch = 1; batch < 7; batch++)
        if (kept[batch])
            capture_free(&capture, kept[batch], 3000, SCRIPT);
    capture_free(&capture, all, 18000, SCRIPT);
    train(1000);
    int64_t peak = 15000 + 18000 + 3000 * (_i == 0 ? 1 : 5);
    int64_t saved = saving(FINDING_CONCATENATED);
    ck_assert_int_gt(saved, _i == 0 ? peak - 3000 : 0);
    ck_assert_int_le(saved, _i == 0 ? peak : 15000 + 18000 + 3000);
}
END_TEST

/* Earlier calls of the evaluation keep as much. None of it waits for a backward pass. */
START_TEST(a_failed_pass_counts_the_calls_before_it)
{
    train(1000);
    for (unsigned call = 0; call < 3; call++) {
        for (unsigned i = 0; i < 4; i++)
            born(2000, STACK_EVALUATION);
        born(8, CPP("at::_ops::rand::call(x)") "," SCRIPT);
    }
    for (unsigned i = 0; i < 4; i++)
        born(2000, STACK_EVALUATION);
    capture_event(&capture, "oom", 0, 2000, STACK_EVALUATION);
    ck_assert_int_eq(saving(FINDING_NO_GRAD), 4 * 8000);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), -1);
}
END_TEST

/* An attempt runs out of memory, and a kept exception holds its activations while a smaller one
 * runs. cuDNN goes on after a failure instead. */
START_TEST(an_attempt_is_given_up)
{
    train(1000);
    for (unsigned i = 0; i < 4; i++)
        born(2000, STACK_FORWARD);
    capture_event(&capture, "oom", 0, 2000, STACK_FORWARD);
    if (_i == 0)
        born(8, CPP("at::_ops::rand::call(x)") "," SCRIPT);
    train(1000);
    train(1000);
    ck_assert_int_eq(saving(FINDING_NO_GRAD) >= 8000, _i == 0);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS) > 0, _i == 1);
}
END_TEST

#define STACK_ZEROS CPP("at::_ops::zeros::redispatch(x)") "," CPP("at::_ops::zeros::call(x)")

/* Code that compares all predictions with all boxes before each step of the training. Zeros are no
 * result, unless an operator makes them to compute in them. */
START_TEST(code_outside_the_model_needs_the_most)
{
    for (unsigned step = 0; step < 3; step++) {
        uint64_t larger = born(500, CPP("at::_ops::maximum::call(x)") "," SCRIPT);
        uint64_t smaller = born(500, CPP("at::_ops::minimum::call(x)") "," SCRIPT);
        uint64_t zeros =
            born(500, _i == 0 ? STACK_ZEROS "," SCRIPT
                              : STACK_ZEROS "," CPP("at::_ops::one_hot::call(x)") "," SCRIPT);
        capture_free(&capture, larger, 500, SCRIPT);
        capture_free(&capture, smaller, 500, SCRIPT);
        capture_free(&capture, zeros, 500, SCRIPT);
        train(400);
    }
    ck_assert_int_eq(saving(FINDING_PLAIN_RESULTS), _i == 0 ? 1000 : 1500);
}
END_TEST

/* Code between two parts of a model in training. What the first part makes is kept for the backward
 * pass, although it is little beside the memory of that code. */
START_TEST(code_within_a_pass_needs_the_most)
{
    for (unsigned step = 0; step < 3; step++) {
        uint64_t saved = born(400, STACK_FORWARD);
        uint64_t larger = born(5000, CPP("at::_ops::maximum::call(x)") "," SCRIPT);
        uint64_t smaller = born(5000, CPP("at::_ops::minimum::call(x)") "," SCRIPT);
        capture_free(&capture, larger, 5000, SCRIPT);
        capture_free(&capture, smaller, 5000, SCRIPT);
        train(400);
        capture_free(&capture, saved, 400, STACK_BACKWARD);
    }
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), -1);
    ck_assert_int_eq(saving(FINDING_PLAIN_RESULTS), 10000);
}
END_TEST

#define STACK_GENERATE                                                                             \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," PY("forward", "/home/u/decoder.py",                                                        \
           3) "," CALL "," PY("decorate_context", TORCH "utils/_contextlib.py", 116) "," SCRIPT

/* Generation runs out of memory after steps of training. Its results, such as keys and values, stay
 * without a graph: no_grad() is on. */
START_TEST(generation_runs_out_of_memory)
{
    train(1000);
    train(1000);
    for (unsigned i = 0; i < 20; i++)
        born(1000, STACK_GENERATE);
    capture_event(&capture, "oom", 0, 1000, STACK_GENERATE);
    ck_assert_int_eq(saving(FINDING_UNUSED_PASS), 20000 - 1108);
    ck_assert_int_eq(saving(FINDING_NO_GRAD), -1);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), -1);
}
END_TEST

#define STACK_FROZEN                                                                               \
    CPP("at::_ops::convolution::call(x)")                                                          \
    "," PY("forward", "/home/u/encoder.py", 3) "," CALL "," SCRIPT

/* Earlier steps show that the layers of a frozen encoder keep nothing. Without them, or in an
 * encoder that is trained, what they hold may wait for the backward pass. */
START_TEST(a_frozen_encoder_runs_out_of_memory)
{
    static const char *const lines[] = {STACK_FROZEN, STACK_FORWARD};
    for (unsigned step = 0; step < 2; step++) {
        capture_free(&capture, born(500, STACK_FROZEN), 500, STACK_FROZEN);
        uint64_t saved = born(1000, STACK_FORWARD);
        uint64_t gradients[] = {born(100, STACK_BACKWARD), born(100, STACK_BACKWARD)};
        capture_free(&capture, saved, 1000, STACK_BACKWARD);
        for (unsigned i = 0; i < 2; i++)
            capture_free(&capture, gradients[i], 100, STACK_STEP);
    }
    born(5000, lines[_i]);
    capture_event(&capture, "oom", 0, 5000, lines[_i]);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), _i == 0 ? -1 : 5000);
}
END_TEST

/* No backward pass is in the trace, and one line makes nearly all, with different operators. */
START_TEST(a_first_pass_that_keeps_what_one_line_makes)
{
    for (unsigned i = 0; i < 20; i++) {
        born(1000, STACK_FORWARD);
        if (_i == 1 && i > 0) /* frees as many as it keeps */
            capture_free(&capture, born(1000, STACK_FORWARD), 1000, STACK_FORWARD);
    }
    capture_event(&capture, "oom", 0, 5000, STACK_FORWARD);
    ck_assert_int_eq(saving(FINDING_ACTIVATIONS), _i == 0 ? 20000 : -1);
}
END_TEST

TCase *findings_passes_tests(void)
{
    TCase *tests = tcase_create("findings of passes");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, an_evaluation_reaches_the_peak);
    tcase_add_test(tests, an_evaluation_ends_the_trace);
    tcase_add_test(tests, training_reaches_the_peak);
    tcase_add_test(tests, a_backward_pass_follows);
    tcase_add_test(tests, a_kernel_is_timed);
    tcase_add_test(tests, a_pass_that_fails_may_have_been_training);
    tcase_add_test(tests, a_backward_pass_runs_out_of_memory);
    tcase_add_loop_test(tests, a_failed_pass_may_be_an_evaluation, 0, 3);
    tcase_add_test(tests, a_failed_pass_counts_the_calls_before_it);
    tcase_add_loop_test(tests, an_attempt_is_given_up, 0, 2);
    tcase_add_loop_test(tests, results_that_are_concatenated, 0, 5);
    tcase_add_loop_test(tests, results_that_wait_to_be_concatenated, 0, 2);
    tcase_add_test(tests, one_step_has_larger_tensors);
    tcase_add_test(tests, steps_are_alike);
    tcase_add_test(tests, one_step_does_more);
    tcase_add_test(tests, one_step_keeps_more_of_the_same);
    tcase_add_test(tests, the_data_set_is_on_the_device);
    tcase_add_test(tests, one_step_tells_nothing_of_data_sets);
    tcase_add_test(tests, results_are_collected);
    tcase_add_loop_test(tests, collected_results_are_joined, 0, 2);
    tcase_add_test(tests, what_is_computed_from_results_is_collected);
    tcase_add_test(tests, what_is_computed_between_two_models_is_collected);
    tcase_add_loop_test(tests, results_of_cuda_graphs_stay_where_they_are, 0, 2);
    tcase_add_loop_test(tests, results_of_layers_are_collected, 0, 2);
    tcase_add_test(tests, what_waits_for_a_backward_pass_is_no_result);
    tcase_add_test(tests, what_waits_for_a_backward_pass_is_activations);
    tcase_add_loop_test(tests, two_results_may_be_those_of_the_last_passes, 0, 2);
    tcase_add_test(tests, a_backward_pass_for_several_batches);
    tcase_add_test(tests, copies_come_before_the_first_batch);
    tcase_add_test(tests, passes_that_contain_backward_passes);
    tcase_add_loop_test(tests, passes_with_backward_passes_of_their_own, 0, 2);
    tcase_add_test(tests, passes_that_make_no_batch);
    tcase_add_test(tests, passes_that_differ);
    tcase_add_loop_test(tests, code_outside_the_model_needs_the_most, 0, 2);
    tcase_add_test(tests, code_within_a_pass_needs_the_most);
    tcase_add_test(tests, generation_runs_out_of_memory);
    tcase_add_loop_test(tests, a_frozen_encoder_runs_out_of_memory, 0, 2);
    tcase_add_loop_test(tests, a_first_pass_that_keeps_what_one_line_makes, 0, 2);
    return tests;
}
