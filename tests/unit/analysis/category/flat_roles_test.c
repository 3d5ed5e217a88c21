/* The roles of buffers that hold the weights, gradients or states of a whole model. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

/* A pass whose gradients are added to views of a flat buffer, as AccumulateGrad does. */
static void step_with_flat_gradients(void)
{
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&standing.capture, "alloc", 2000, SIZE + 100 * i, STACK_BACKWARD);
        capture_free(&standing.capture, 2000, SIZE + 100 * i, ACCUMULATE);
    }
    capture_free(&standing.capture, 1000, 50, ENGINE);
    capture_event(&standing.capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&standing.capture, 1001, 50, STACK_STEP);
}

START_TEST(flat_buffers_hold_weights_gradients_and_states)
{
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, 1, 1, CATEGORY_PARAMETER);
    standing_expect(&standing, 2, 1, CATEGORY_GRADIENT);
    standing_expect(&standing, 3, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(flat_masters_may_have_gradients)
{
    standing_block(&standing, FLAT);
    standing_block(&standing, FLAT);
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, 2 * FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, 1, 1, CATEGORY_PARAMETER);
    standing_expect(&standing, 2, 1, CATEGORY_GRADIENT);
    standing_expect(&standing, 3, 1, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, 4, 1, CATEGORY_GRADIENT);
    standing_expect(&standing, 5, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

#define ZEROS CPP("at::_ops::zeros::call(x)") "," PY("wrap", "/home/u/buffers.py", 4) "," SCRIPT
#define FLOAT                                                                                      \
    CPP("at::_ops::_to_copy::call(x)") "," PY("masters", "/home/u/buffers.py", 9) "," SCRIPT

/* Megatron allocates the buffer before it makes the optimizer. */
START_TEST(flat_gradients_may_be_made_before_masters)
{
    standing_block(&standing, FLAT);
    standing_block(&standing, FLAT);
    capture_event(&standing.capture, "alloc", 3, 2 * FLAT, ZEROS);
    capture_event(&standing.capture, "alloc", 4, 2 * FLAT, FLOAT);
    standing_block(&standing, 2 * FLAT);
    standing_block(&standing, 2 * FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, 3, 1, CATEGORY_GRADIENT);
    standing_expect(&standing, 4, 1, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The same in a trace that begins later, whose blocks have their stacks. */
START_TEST(flat_gradients_may_be_made_before_the_trace)
{
    standing_block(&standing, FLAT);
    standing_block(&standing, FLAT);
    capture_block(&standing.capture, 3, 2 * FLAT, ZEROS);
    capture_block(&standing.capture, 4, 2 * FLAT, FLOAT);
    standing.next = 5;
    standing_block(&standing, 2 * FLAT);
    standing_block(&standing, 2 * FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, 3, 1, CATEGORY_GRADIENT);
    standing_expect(&standing, 4, 1, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* With a distributed optimizer, half of the masters is as large as all weights. */
START_TEST(flat_states_tell_the_width_of_masters)
{
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, FLAT);
    standing_block(&standing, 2 * FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, 1, 1, CATEGORY_PARAMETER);
    standing_expect(&standing, 2, 3, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, 5, 1, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(gradients_alone_may_be_flat)
{
    uint64_t weights = standing_model(&standing, 1), masters = standing_model(&standing, 2),
             flat = standing.next;
    standing_block(&standing, 2 * FLAT);
    step_with_flat_gradients();
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, flat, 1, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_model_without_gaps_has_no_flat_buffers)
{
    uint64_t weights = standing_model(&standing, 1), other = standing.next;
    standing_block(&standing, FLAT);
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, other, 1, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_flat_roles_tests(void)
{
    TCase *tests = tcase_create("roles of flat buffers");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, flat_buffers_hold_weights_gradients_and_states);
    tcase_add_test(tests, flat_masters_may_have_gradients);
    tcase_add_test(tests, flat_gradients_may_be_made_before_masters);
    tcase_add_test(tests, flat_gradients_may_be_made_before_the_trace);
    tcase_add_test(tests, flat_states_tell_the_width_of_masters);
    tcase_add_test(tests, gradients_alone_may_be_flat);
    tcase_add_test(tests, a_model_without_gaps_has_no_flat_buffers);
    return tests;
}
