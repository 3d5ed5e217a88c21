/* Categories of memory allocated before the trace. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define PARAMETER 4000
#define BUFFER    96
#define HOOK      PY("hook", "/home/u/train.py", 5) "," CPP("torch::autograd::AccumulateGrad::apply(x)")

static void expect(uint64_t addr, enum category category)
{
    enum category found = capture_category(&capture, addr);
    ck_assert_msg(found == category, "%d: %s", (int)addr, category_name(found));
}

/* A forward, and a backward that leaves one gradient of PARAMETER bytes at address 50. */
static void forward_and_backward(void)
{
    capture_event(&capture, "alloc", 40, 123, STACK_FORWARD);
    capture_event(&capture, "alloc", 50, PARAMETER, STACK_BACKWARD);
    capture_free(&capture, 40, 123, ENGINE);
}

START_TEST(sizes_tell_the_parameters)
{
    capture_block(&capture, 1, PARAMETER, "");
    capture_block(&capture, 2, BUFFER, "");
    forward_and_backward();
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_PARAMETER); /* a buffer of the model, if not data: little confidence */
    expect(50, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(the_first_of_a_size_are_the_parameters)
{
    capture_block(&capture, 1, PARAMETER, "");
    capture_block(&capture, 2, PARAMETER, "");
    capture_block(&capture, 3, PARAMETER, "");
    forward_and_backward();
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_OPTIMIZER_STATE); /* Adam's two */
    expect(3, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Simulates an optimizer that makes new states and drops the old ones. */
static void replace(uint64_t new_addr, uint64_t old_addr)
{
    capture_event(&capture, "alloc", new_addr, PARAMETER, STACK_STEP);
    capture_free(&capture, old_addr, PARAMETER, STACK_STEP);
}

START_TEST(states_are_replaced_in_the_step)
{
    capture_block(&capture, 1, PARAMETER, "");
    forward_and_backward();
    replace(60, 2);
    replace(61, 3);
    capture_free(&capture, 4, 555, STACK_STEP); /* not replaced */
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_OPTIMIZER_STATE);
    expect(3, CATEGORY_OPTIMIZER_STATE);
    expect(4, CATEGORY_UNKNOWN);
    expect(60, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(replaced_blocks_may_be_the_parameters_themselves)
{
    forward_and_backward();
    replace(60, 2);
    capture_load(&capture);
    expect(2, CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(a_trace_that_begins_in_a_step_sees_its_temporaries_die)
{
    capture_block(&capture, 1, PARAMETER, "");
    replace(60, 2);
    forward_and_backward();
    capture_load(&capture);
    expect(2, CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(zero_grad_frees_gradients)
{
    capture_free(&capture, 7, 77, PY("zero_grad", TORCH "optim/optimizer.py", 960) "," SCRIPT);
    capture_load(&capture);
    expect(7, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_backward_that_was_running_frees_activations)
{
    capture_free(&capture, 8, 88, ENGINE);
    capture_event(&capture, "alloc", 40, 123, STACK_FORWARD);
    capture_free(&capture, 9, 99, ENGINE);
    capture_load(&capture);
    expect(8, CATEGORY_ACTIVATION);
    capture_expect(&capture, 9, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

START_TEST(blocks_with_stacks_speak_for_themselves)
{
    capture_block(&capture, 1, 10, PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    capture_block(&capture, 2, 20, STACK_STEP);
    capture_block(&capture, 3, 30, STACK_BACKWARD);
    capture_block(&capture, 4, 40, STACK_FORWARD);
    capture_block(&capture, 5, 50, SCRIPT);
    capture_block(&capture, 6, 60, CPP("at::cuda::getNewWorkspace()") "," STACK_FORWARD);
    capture_block(&capture, 7, 70, CPP("at::_ops::zeros_like::call(x)") "," HOOK "," ENGINE);
    capture_load(&capture);
    expect(7, CATEGORY_OPTIMIZER_STATE);
    expect(1, CATEGORY_PARAMETER);
    expect(2, CATEGORY_OPTIMIZER_STATE);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_ACTIVATION);
    expect(5, CATEGORY_UNKNOWN);
    expect(6, CATEGORY_WORKSPACE);
}
END_TEST

START_TEST(the_first_product_leaves_a_workspace)
{
    capture_block(&capture, 1, CUBLAS_WORKSPACE, PY("forward", "/home/u/attention.py", 9) "," CALL);
    capture_block(&capture, 2, CUBLAS_WORKSPACE, CPP("at::_ops::mul::call(x)") "," STACK_FORWARD);
    capture_block(&capture, 3, CUBLAS_WORKSPACE + 1, STACK_FORWARD);
    capture_load(&capture);
    capture_expect(&capture, 1, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    expect(2, CATEGORY_ACTIVATION);
    expect(3, CATEGORY_ACTIVATION);
}
END_TEST

#define LAYER(line)                                                                                \
    PY("update", "/home/u/cache.py", line) "," PY("forward", "/home/u/model.py", 9) "," CALL
#define GENERATE PY("decorate_context", TORCH "utils/_contextlib.py", 116) "," SCRIPT

/* A model that generates text: weights, a cache with equal blocks for four layers, two results. */
static void standing_cache(const char *frames)
{
    capture_block(&capture, 1, PARAMETER, "");
    for (uint64_t layer = 0; layer < 4; layer++)
        capture_block(&capture, 2 + layer, 70, frames);
    for (uint64_t layer = 0; layer < 3; layer++)
        capture_block(&capture, 6 + layer, 80, LAYER(8) "," GENERATE);
}

START_TEST(equal_blocks_of_inference_are_a_cache)
{
    standing_cache(LAYER(7) "," GENERATE);
    capture_block(&capture, 9, 90, SCRIPT);
    capture_free(&capture, 10, 100, "");
    capture_load(&capture);
    expect(9, CATEGORY_UNKNOWN);
    capture_expect(&capture, 1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    for (uint64_t layer = 0; layer < 4; layer++)
        capture_expect(&capture, 2 + layer, CATEGORY_KV_CACHE, CONFIDENCE_LOW);
    capture_expect(&capture, 6, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* With gradients, the backward pass needs them. */
START_TEST(equal_blocks_with_gradients_are_no_cache)
{
    standing_cache(LAYER(7) "," SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_ACTIVATION);
}
END_TEST

START_TEST(live_blocks_of_training_tell_no_weights)
{
    standing_cache(LAYER(7) "," GENERATE);
    capture_block(&capture, 9, 90, STACK_STEP);
    capture_load(&capture);
    expect(1, CATEGORY_UNKNOWN);
}
END_TEST

/* A pass of another network may free what a pass before the trace saved. */
START_TEST(a_later_pass_frees_activations)
{
    capture_block(&capture, 1, PARAMETER, "");
    forward_and_backward();
    capture_event(&capture, "alloc", 41, 123, STACK_FORWARD);
    capture_free(&capture, 7, 77, STACK_FORWARD);
    capture_free(&capture, 8, PARAMETER, STACK_FORWARD);
    capture_free(&capture, 41, 123, ENGINE);
    capture_load(&capture);
    capture_expect(&capture, 7, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
    expect(8, CATEGORY_UNKNOWN); /* of the size of a weight */
}
END_TEST

TCase *category_preexisting_tests(void)
{
    TCase *tests = tcase_create("categories before the trace");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, sizes_tell_the_parameters);
    tcase_add_test(tests, the_first_of_a_size_are_the_parameters);
    tcase_add_test(tests, states_are_replaced_in_the_step);
    tcase_add_test(tests, replaced_blocks_may_be_the_parameters_themselves);
    tcase_add_test(tests, a_trace_that_begins_in_a_step_sees_its_temporaries_die);
    tcase_add_test(tests, zero_grad_frees_gradients);
    tcase_add_test(tests, a_backward_that_was_running_frees_activations);
    tcase_add_test(tests, a_later_pass_frees_activations);
    tcase_add_test(tests, blocks_with_stacks_speak_for_themselves);
    tcase_add_test(tests, the_first_product_leaves_a_workspace);
    tcase_add_test(tests, equal_blocks_of_inference_are_a_cache);
    tcase_add_test(tests, equal_blocks_with_gradients_are_no_cache);
    tcase_add_test(tests, live_blocks_of_training_tell_no_weights);
    return tests;
}
