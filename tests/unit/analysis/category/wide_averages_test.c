/* Averages of the weights in a wider type than the weights. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

static struct standing standing;

static void set_up(void)
{
    standing_init(&standing);
}

static void tear_down(void)
{
    standing_release(&standing);
}

/* Adam keeps two states in the type of the weights, so it does not update the wide copies. */
START_TEST(an_average_may_be_wider_than_the_weights)
{
    uint64_t weights = standing_model(&standing, 1), average = standing_model(&standing, 2),
             states = standing_model(&standing, 1);
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#Adam.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

static void make_model(uint64_t first, unsigned wide, const char *stack)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing.capture, "alloc", first + i, (SIZE + 100 * i) * wide, stack);
}

/* The first step of the trace makes the states. */
START_TEST(states_made_in_the_trace_tell_an_average)
{
    unsigned wide = _i == 0 ? 1 : 2; /* the type of the states */
    make_model(100, 1, SCRIPT);
    make_model(200, 2, SCRIPT);
    standing_step(&standing, NULL);
    make_model(300, wide, STACK_STEP);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, 100, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, 200, LAYERS,
                    wide == 1 ? CATEGORY_PARAMETER : CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, 300, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The steps before the trace made the states, as their stacks tell. */
START_TEST(stacks_of_states_tell_an_average)
{
    uint64_t weights = standing_model(&standing, 1), average = standing_model(&standing, 2),
             states = standing.next;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&standing.capture, standing.next++, (SIZE + 100 * i) * (_i == 0 ? 1 : 2),
                      STACK_STEP);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, LAYERS,
                    _i == 0 ? CATEGORY_PARAMETER : CATEGORY_OPTIMIZER_STATE);
    standing_expect(&standing, states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The trace begins later, and a step makes copies of the weights. */
START_TEST(later_steps_make_no_states)
{
    uint64_t weights = standing_model(&standing, 1), momenta = standing_model(&standing, 2);
    standing_step(&standing, NULL);
    make_model(300, 1, STACK_STEP);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, momenta, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* An optimizer without a name may keep wide momenta only; the other narrow blocks are a copy. */
START_TEST(a_narrow_copy_is_no_state)
{
    uint64_t weights = standing_model(&standing, 1), momenta = standing_model(&standing, 2);
    standing_model(&standing, 1);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, momenta, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

#define CHANNELS 5u /* sizes, each twice as large as the one before it */
#define DATA     3u

static uint64_t channels_model(void)
{
    uint64_t first = standing.next;
    for (unsigned i = 0; i < CHANNELS; i++)
        standing_block(&standing, (uint64_t)SIZE << i);
    return first;
}

/* A convolutional network doubles its channels, so that most weights have the size of masters of
 * others. Other data that happens to have twice the size of the last one does not decide. */
START_TEST(doubled_channels_need_no_masters)
{
    uint64_t weights = channels_model(), average = channels_model(), states = channels_model();
    channels_model();
    for (unsigned i = 0; i < DATA; i++)
        standing_block(&standing, 2 * (SIZE + 100));
    for (unsigned i = 0; i < 4; i++) /* the last weight, its average and its states */
        standing_block(&standing, SIZE + 100);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < CHANNELS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, (uint64_t)SIZE << i, STACK_BACKWARD);
    capture_event(&standing.capture, "alloc", 2100, SIZE + 100, STACK_BACKWARD);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#Adam.step");
    for (unsigned i = 0; i < CHANNELS; i++)
        capture_free(&standing.capture, 2000 + i, (uint64_t)SIZE << i, SCRIPT);
    capture_free(&standing.capture, 2100, SIZE + 100, SCRIPT);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, CHANNELS, CATEGORY_PARAMETER);
    standing_expect(&standing, average, CHANNELS, CATEGORY_PARAMETER);
    standing_expect(&standing, states, 2 * CHANNELS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* SGD without momentum keeps no states, so the only copies are masters. */
START_TEST(masters_need_no_states)
{
    uint64_t weights = standing_model(&standing, 1), masters = standing_model(&standing, 2);
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_wide_averages_tests(void)
{
    TCase *tests = tcase_create("wide averages");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, an_average_may_be_wider_than_the_weights);
    tcase_add_loop_test(tests, states_made_in_the_trace_tell_an_average, 0, 2);
    tcase_add_loop_test(tests, stacks_of_states_tell_an_average, 0, 2);
    tcase_add_test(tests, later_steps_make_no_states);
    tcase_add_test(tests, a_narrow_copy_is_no_state);
    tcase_add_test(tests, doubled_channels_need_no_masters);
    tcase_add_test(tests, masters_need_no_states);
    return tests;
}
