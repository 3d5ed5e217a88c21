/* Passes in traces without stacks that make no gradients of weights, or free what they saved in
 * less order, and forward passes under checkpoints. */
#include "analysis/phase/phases.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     24u

static void create_model(void)
{
    create();
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_block(&capture, 600 + i, PARAMETER + i, "");
        capture_block(&capture, 640 + i, PARAMETER + i, "");
    }
}

static void step(void)
{
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16);
    freed(60, 16);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i);
}

static void forward(unsigned layers)
{
    for (unsigned i = 0; i < layers; i++)
        born(100 + i, ACTIVATION + i);
}

/* Layer `i` of a backward pass frees what layer `saved` saved. */
static void backward(unsigned i, unsigned saved, bool trains)
{
    born(200 + i, ACTIVATION + i);
    if (trains)
        born(300 + i, PARAMETER + i);
    freed(100 + saved, ACTIVATION + saved);
    freed(200 + i, ACTIVATION + i);
}

static void pass(unsigned layers, bool trains)
{
    forward(layers);
    for (unsigned i = layers; i-- > 0;)
        backward(i, i, trains);
}

static void expect_activation(uint64_t addr)
{
    capture_load(&capture);
    capture_expect(&capture, addr, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
}

/* A sampler moves inputs along their gradients before each step. */
START_TEST(a_pass_may_make_no_gradients_of_weights)
{
    for (unsigned i = 0; i < 3; i++) {
        pass(LAYERS / 2, false);
        born(50, 9000);
        pass(LAYERS, true);
        freed(50, 9000);
        step();
    }
    pass(LAYERS / 2, false);
    expect_activation(105);
}
END_TEST

/* What a program piles up and drops at once was not saved. */
START_TEST(a_list_that_is_dropped_is_no_pass)
{
    for (unsigned i = 0; i < 3; i++) {
        pass(LAYERS, true);
        step();
    }
    forward(LAYERS / 2);
    for (unsigned i = LAYERS / 2; i-- > 0;)
        freed(100 + i, ACTIVATION + i);
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 105), CATEGORY_ACTIVATION);
}
END_TEST

/* A pass through the backward pass of an inner step frees some blocks in the order in which they
 * were made. Others of the same step add to the gradients of the first. */
START_TEST(a_pass_may_free_in_less_order)
{
    for (unsigned i = 0; i < 3; i++) {
        pass(LAYERS, true);
        forward(LAYERS);
        for (unsigned layer = LAYERS; layer-- > 0;) {
            born(400 + layer, PARAMETER + layer); /* is added to another */
            freed(400 + layer, PARAMETER + layer);
            backward(layer, layer % 3 == 0 ? LAYERS - 3 - layer : layer, false);
        }
        step();
    }
    expect_activation(105);
}
END_TEST

#define BLOCKS 6u /* under checkpoints, as many blocks */

/* The first pass of a checkpoint computes without autograd, and leaves the input of the next. */
static void layer_without_autograd(unsigned number)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        born(700 + i, 8000 + i);
    for (unsigned i = BLOCKS; i-- > 0;) {
        born(720 + i, 8500 + i);
        freed(700 + i, 8000 + i);
        if (i == 1)
            born(800 + number, 7000);
        freed(720 + i, 8500 + i);
    }
}

/* Each layer is computed again for its part of the backward pass. */
START_TEST(the_inputs_of_checkpoints_are_saved)
{
    const unsigned layers = LAYERS / BLOCKS;
    for (unsigned step_number = 0; step_number < 3; step_number++) {
        for (unsigned i = 0; i < layers; i++)
            layer_without_autograd(i);
        for (unsigned layer = layers; layer-- > 0;) {
            for (unsigned i = 0; i < BLOCKS + 2; i++)
                born(100 + i, ACTIVATION + i);
            for (unsigned i = BLOCKS + 2; i-- > 0;) {
                born(200 + i, ACTIVATION + i);
                if (i < BLOCKS)
                    born(300 + layer * BLOCKS + i, PARAMETER + layer * BLOCKS + i);
                freed(100 + i, ACTIVATION + i);
                freed(200 + i, ACTIVATION + i);
            }
            freed(800 + layer, 7000);
        }
        step();
    }
    expect_activation(801);
}
END_TEST

TCase *category_slopes_tests(void)
{
    TCase *tests = tcase_create("passes of other shapes without stacks");
    tcase_add_checked_fixture(tests, create_model, destroy);
    tcase_add_test(tests, a_pass_may_make_no_gradients_of_weights);
    tcase_add_test(tests, a_list_that_is_dropped_is_no_pass);
    tcase_add_test(tests, a_pass_may_free_in_less_order);
    tcase_add_test(tests, the_inputs_of_checkpoints_are_saved);
    return tests;
}
