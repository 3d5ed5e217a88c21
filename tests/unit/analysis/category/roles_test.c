/* The roles of blocks that stay, by the sizes of all of them together. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

START_TEST(one_copy_more_than_adam_needs_is_a_model)
{
    uint64_t weights = standing_model(&standing, 1), average = standing_model(&standing, 1),
             states = standing_model(&standing, 1);
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#AdamW.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(sgd_keeps_one_state)
{
    uint64_t weights = standing_model(&standing, 1), average = standing_model(&standing, 1),
             states = standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(masters_may_have_gradients)
{
    uint64_t weights = standing_model(&standing, 1), masters = standing_model(&standing, 2),
             gradients = standing_model(&standing, 2), states = standing_model(&standing, 2);
    standing_model(&standing, 2);
    standing_step(&standing, "Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, gradients, LAYERS, CATEGORY_GRADIENT);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A step of Adam that uses other gradients than the pass leaves. */
static void step_of_others(void)
{
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&standing.capture, 2000 + i, SIZE + 100 * i, SCRIPT);
    standing_optimize(&standing, "Optimizer.step#Adam.step");
}

/* The gradients are freed before the optimizer steps, so the masters have gradients of their own.
 * The other blocks are an average. */
START_TEST(masters_may_have_gradients_and_an_average)
{
    uint64_t weights = standing_model(&standing, 1), masters = standing_model(&standing, 2),
             gradients = standing_model(&standing, 2), average = standing_model(&standing, 2),
             states = standing_model(&standing, 2);
    standing_model(&standing, 2);
    step_of_others();
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, gradients, LAYERS, CATEGORY_GRADIENT);
    standing_expect(&standing, average, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The gradients are freed before the optimizer steps, but as many wide blocks stay as the masters
 * and Adam's states need: the gradients of the masters come and go. */
START_TEST(states_of_masters_are_no_gradients)
{
    standing_model(&standing, 1);
    uint64_t masters = standing_model(&standing, 2);
    standing_model(&standing, 2);
    standing_model(&standing, 2);
    step_of_others();
    capture_load(&standing.capture);
    standing_expect(&standing, masters, 3 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A wider model has weights of twice the size, and others of four times the size. */
START_TEST(a_model_twice_as_wide_is_no_master)
{
    uint64_t weights = standing_model(&standing, 1), other = standing.next;
    for (unsigned i = 0; i < 2 * LAYERS; i++)
        standing_block(&standing, (SIZE + 100 * (i / 2)) * (i / 2 == 0 ? 4 : 2));
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, other, 2 * LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* cuDNN keeps the weights of an LSTM in one block, Adam a state for each of them. */
START_TEST(states_of_flat_weights_add_up)
{
    uint64_t weights = standing_model(&standing, 1), flat;
    for (unsigned i = 2; i < 2 * LAYERS; i++) /* none of the size of the first layer */
        standing_block(&standing, SIZE + 100 * (i / 2));
    flat = standing.next;
    for (unsigned i = 0; i < 2; i++) {
        standing_block(&standing, 3000);
        standing_block(&standing, 1000);
    }
    standing_step(&standing, "Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, flat, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Two models with weights of the same sizes, whose gradients two passes make. */
START_TEST(passes_of_two_models_count_together)
{
    uint64_t weights = standing_model(&standing, 1), states;
    standing_model(&standing, 1);
    states = standing_model(&standing, 1);
    for (unsigned i = 0; i < 3; i++)
        standing_model(&standing, 1);
    for (unsigned pass = 0; pass < 2; pass++) {
        capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&standing.capture, "alloc", 2000 + 100 * pass + i, SIZE + 100 * i,
                          STACK_BACKWARD);
        capture_free(&standing.capture, 1000, 50, ENGINE);
        capture_event(&standing.capture, "alloc", 1001, 50, STACK_STEP);
        capture_free(&standing.capture, 1001, 50, STACK_STEP);
    }
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&standing.capture, 2000 + 100 * pass + i, SIZE + 100 * i, SCRIPT);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, 2 * LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 4 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(sparse_gradients_have_other_sizes)
{
    uint64_t weights = standing.next;
    standing_block(&standing, 9000);
    standing_block(&standing, 9000);
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, 9000);
    standing_step(&standing, "Optimizer.step#SparseAdam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, 2, CATEGORY_PARAMETER);
    standing_expect(&standing, weights + 2, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A copy of the model from before the trace that plain code made of zeros, beside Adam's states. */
static uint64_t copy_of_zeros(unsigned layers)
{
    uint64_t copy;
    standing_model(&standing, 1);
    copy = standing.next;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&standing.capture, standing.next++, SIZE + 100 * i,
                      i < layers ? CPP("at::_ops::zeros_like::call(x)") "," SCRIPT : "");
    standing_model(&standing, 1);
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    return copy;
}

START_TEST(zeros_from_before_the_trace_are_states)
{
    standing_expect(&standing, copy_of_zeros(LAYERS), LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(few_zeros_from_before_the_trace_are_a_copy)
{
    standing_block(&standing, 9 * SIZE); /* a weight, too */
    capture_event(&standing.capture, "alloc", 3000, 50, STACK_FORWARD);
    capture_event(&standing.capture, "alloc", 3001, 9 * SIZE, STACK_BACKWARD);
    capture_free(&standing.capture, 3000, 50, ENGINE);
    capture_free(&standing.capture, 3001, 9 * SIZE, SCRIPT);
    standing_expect(&standing, copy_of_zeros(1), LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* A trace that begins late in an accumulation shows no gradient: they exist, and are added to. */
START_TEST(gradients_from_before_the_trace_are_one_copy_more)
{
    uint64_t weights = standing_model(&standing, 1), states = standing_model(&standing, 1);
    standing_model(&standing, 1);
    uint64_t gradients = standing_model(&standing, 1);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, gradients, LAYERS, CATEGORY_GRADIENT);
}
END_TEST

/* Gradients that are views of two buckets are not seen, but the buckets are as large as a copy. */
START_TEST(gradients_may_lie_in_buckets)
{
    uint64_t weights = standing_model(&standing, 1), states = standing_model(&standing, 1);
    standing_block(&standing, 2 * SIZE);
    standing_block(&standing, FLAT - 2 * SIZE);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A pass uses up a block that has the size of a weight by chance: it adds to no gradient. */
START_TEST(few_bytes_do_not_tell_that_gradients_stay)
{
    uint64_t weights = standing_model(&standing, 1), states = standing_model(&standing, 1);
    uint64_t small = standing.next;
    standing_block(&standing, 600);
    standing_block(&standing, 600);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    capture_event(&standing.capture, "alloc", 2000, 600, STACK_BACKWARD);
    capture_event(&standing.capture, "alloc", 2001, 500, STACK_BACKWARD);
    capture_free(&standing.capture, 2000, 600, ENGINE);
    capture_free(&standing.capture, 2001, 500, ENGINE);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, small, 1, CATEGORY_PARAMETER);
    standing_expect(&standing, small + 1, 1, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The weights of most bytes lie in one block each, and vote for no state. */
START_TEST(most_weights_may_have_states_in_parts)
{
    uint64_t weights = standing_model(&standing, 1), states = standing.next, average;
    for (unsigned copy = 0; copy < 2; copy++) {
        standing_block(&standing, SIZE + 100 * (LAYERS - 1));
        for (unsigned i = 0; i + 1 < LAYERS; i++) {
            standing_block(&standing, 3000);
            standing_block(&standing, 1000 + 100 * i);
        }
    }
    average = standing.next++; /* not there at the end */
    for (unsigned step = 0; step < 2; step++)
        standing_step(&standing, "Optimizer.step#Adam.step");
    capture_free(&standing.capture, average, 3000, SCRIPT);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * (2 * LAYERS - 1), CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, average, 1, CATEGORY_PARAMETER);
}
END_TEST

/* An average of a part of the model: where it has no copy, one state is left for each weight. */
START_TEST(an_unknown_optimizer_keeps_what_all_sizes_allow)
{
    uint64_t weights = standing_model(&standing, 1), average = standing.next;
    for (unsigned i = 1; i < LAYERS; i++)
        standing_block(&standing, SIZE + 100 * i);
    uint64_t states = standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#LARS.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, LAYERS - 1, CATEGORY_PARAMETER);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The step makes every state anew: those from before the trace were states as well. */
START_TEST(steps_may_replace_states)
{
    uint64_t weights = standing_model(&standing, 1), kept = standing_model(&standing, 1),
             states = standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#Adam.step");
    for (unsigned step = 0; step < 2; step++) {
        capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
        capture_free(&standing.capture, 1000, 50, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++) {
            capture_event(&standing.capture, "alloc", 3000 + 100 * step + i, SIZE + 100 * i,
                          STACK_STEP);
            capture_free(&standing.capture, (step ? 3000 : states) + i, SIZE + 100 * i, STACK_STEP);
        }
    }
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, kept, LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Three weights of each size, so that weights alone could be one copy and two states. */
START_TEST(replaced_states_leave_no_others)
{
    uint64_t weights = standing_model(&standing, 1);
    standing_model(&standing, 1);
    standing_model(&standing, 1);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < 3 * LAYERS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, SIZE + 100 * (i % LAYERS),
                      STACK_BACKWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    capture_annotate(&standing.capture, "START", "Optimizer.step#AdamW.step", 0);
    for (unsigned i = 0; i < 6 * LAYERS; i++) {
        uint64_t size = SIZE + 100 * (i % LAYERS);
        capture_event(&standing.capture, "alloc", 3000 + i, size, STACK_STEP);
        capture_free(&standing.capture, 4000 + i, size, STACK_STEP);
    }
    capture_annotate(&standing.capture, "END", "Optimizer.step#AdamW.step", 0);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, 3 * LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, 4000, 6 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* One table is twice as large as the other, and neither has a gradient of its size. */
START_TEST(sparse_tables_are_no_masters)
{
    uint64_t weights = standing.next;
    standing_block(&standing, 200000);
    standing_block(&standing, 400000);
    uint64_t states = standing.next;
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, i < 2 ? 200000 : 400000);
    for (unsigned i = 0; i < 3; i++)
        standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#SparseAdam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, 2, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Momentum contrast: the forward pass makes the weights of a model anew. */
START_TEST(a_forward_may_replace_weights)
{
    capture_event(&standing.capture, "alloc", 1, 700,
                  PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
    for (unsigned step = 0; step < 2; step++) {
        capture_event(&standing.capture, "alloc", 2 + step, 700, STACK_FORWARD);
        capture_free(&standing.capture, 1 + step, 700, STACK_FORWARD);
        capture_event(&standing.capture, "alloc", 10, 50, STACK_FORWARD);
        capture_event(&standing.capture, "alloc", 20 + step, 60, STACK_BACKWARD);
        capture_free(&standing.capture, 10, 50, ENGINE);
    }
    capture_load(&standing.capture);
    standing_expect(&standing, 1, 3, CATEGORY_PARAMETER);
    standing_expect(&standing, 10, 1, CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_roles_tests(void)
{
    TCase *tests = tcase_create("roles of what stays");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, one_copy_more_than_adam_needs_is_a_model);
    tcase_add_test(tests, sgd_keeps_one_state);
    tcase_add_test(tests, masters_may_have_gradients);
    tcase_add_test(tests, masters_may_have_gradients_and_an_average);
    tcase_add_test(tests, states_of_masters_are_no_gradients);
    tcase_add_test(tests, a_model_twice_as_wide_is_no_master);
    tcase_add_test(tests, states_of_flat_weights_add_up);
    tcase_add_test(tests, passes_of_two_models_count_together);
    tcase_add_test(tests, sparse_gradients_have_other_sizes);
    tcase_add_test(tests, zeros_from_before_the_trace_are_states);
    tcase_add_test(tests, few_zeros_from_before_the_trace_are_a_copy);
    tcase_add_test(tests, gradients_from_before_the_trace_are_one_copy_more);
    tcase_add_test(tests, gradients_may_lie_in_buckets);
    tcase_add_test(tests, few_bytes_do_not_tell_that_gradients_stay);
    tcase_add_test(tests, most_weights_may_have_states_in_parts);
    tcase_add_test(tests, an_unknown_optimizer_keeps_what_all_sizes_allow);
    tcase_add_test(tests, steps_may_replace_states);
    tcase_add_test(tests, replaced_states_leave_no_others);
    tcase_add_test(tests, sparse_tables_are_no_masters);
    tcase_add_test(tests, a_forward_may_replace_weights);
    return tests;
}
