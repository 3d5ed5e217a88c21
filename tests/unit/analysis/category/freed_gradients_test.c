/* Traces without stacks and annotations of models that save little: their passes show by the
 * gradients, which are freed in a row. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/layer_passes.h"

#define WEIGHTS 10
#define SCRATCH 400
#define FEW     4 /* layers: a forward pass saves too few blocks to tell */

static void weights(void)
{
    for (unsigned i = 0; i < FEW; i++)
        born(WEIGHTS + i, PARAMETER + i, "");
}

static void passes(void)
{
    for (unsigned i = 0; i < FEW; i++)
        born(100 + i, ACTIVATION + i, "");
    for (unsigned i = FEW; i-- > 0;) {
        born(300 + i, PARAMETER + i, "");
        freed(100 + i, ACTIVATION + i, "");
    }
}

/* The optimizer makes a block for each weight, and drops them before zero_grad(). */
static void update(unsigned layers)
{
    for (unsigned i = 0; i < layers; i++)
        born(SCRATCH + i, PARAMETER + i, "");
    for (unsigned i = layers; i-- > 0;)
        freed(SCRATCH + i, PARAMETER + i, "");
}

static void zero_grad(unsigned layers)
{
    for (unsigned i = 0; i < layers; i++)
        freed(300 + i, PARAMETER + i, "");
}

START_TEST(gradients_that_go_in_a_row_show_a_step)
{
    weights();
    for (unsigned step = 0; step < 3; step++) {
        passes();
        update(FEW);
        zero_grad(FEW);
    }
    capture_load(&capture);
    expect(WEIGHTS, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(102, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(302, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* What is freed in the order in which it was made is no list of gradients. */
START_TEST(a_row_in_order_of_birth_shows_no_step)
{
    weights();
    for (unsigned step = 0; step < 3; step++) {
        for (unsigned i = 0; i < FEW; i++)
            born(300 + i, PARAMETER + i, "");
        zero_grad(FEW);
    }
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 302), CATEGORY_GRADIENT);
}
END_TEST

/* A script joins the gradients of a loss in one vector, and drops their list. */
START_TEST(a_list_that_is_joined_shows_no_step)
{
    weights();
    for (unsigned step = 0; step < 3; step++) {
        passes();
        born(500 + step, FEW * PARAMETER + FEW * (FEW - 1) / 2, "");
        zero_grad(FEW);
        born(600, ACTIVATION, "");
        freed(500 + step, FEW * PARAMETER + FEW * (FEW - 1) / 2, "");
        freed(600, ACTIVATION, "");
    }
    capture_load(&capture);
    expect(102, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

START_TEST(memory_may_run_out_without_named_steps)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        one_step("", "");
        update(LAYERS);
        zero_grad(LAYERS);
    }
    for (unsigned i = 0; i < LAYERS; i++)
        born(600 + i, ACTIVATION + i, "");
    capture_event(&capture, "oom", 50, 5000, "");
    capture_load(&capture);
    expect(603, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
}
END_TEST

/* A pass that adds to the gradients of the one before. */
static void added_pass(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i, "");
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, PARAMETER + i, "");
        freed(200 + i, PARAMETER + i, "");
        freed(100 + i, ACTIVATION + i, "");
    }
}

/* An optimizer that works on lists: it frees the first one when it has made the second, and the
 * others with the gradients. */
static void update_by_lists(void)
{
    for (unsigned list = 0; list < 3; list++) {
        for (unsigned i = 0; i < LAYERS; i++)
            born(SCRATCH + 10 * list + i, PARAMETER + i, "");
        for (unsigned i = 0; list == 1 && i < LAYERS; i++)
            freed(SCRATCH + i, PARAMETER + i, "");
    }
    for (unsigned i = 0; i < LAYERS; i++) {
        freed(SCRATCH + 10 + i, PARAMETER + i, "");
        freed(SCRATCH + 20 + i, PARAMETER + i, "");
    }
}

static void first_states(unsigned step)
{
    for (unsigned i = 0; step == 0 && i < LAYERS; i++)
        born(700 + i, PARAMETER + i, "");
}

START_TEST(a_step_follows_the_last_pass_that_adds)
{
    parameters_before();
    for (unsigned step = 0; step < 4; step++) {
        one_step("", "");
        added_pass();
        added_pass();
        first_states(step);
        update_by_lists();
        zero_grad(LAYERS);
    }
    capture_load(&capture);
    expect(703, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* zero_grad() runs between the forward and the backward pass. */
START_TEST(gradients_may_go_after_the_next_forward_pass)
{
    parameters_before();
    for (unsigned step = 0; step < 4; step++) {
        for (unsigned i = 0; i < LAYERS; i++)
            born(100 + i, ACTIVATION + i, "");
        if (step > 0)
            zero_grad(LAYERS);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(300 + i, PARAMETER + i, "");
            freed(100 + i, ACTIVATION + i, "");
        }
        first_states(step);
        update_by_lists();
    }
    capture_load(&capture);
    expect(703, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

TCase *category_freed_gradients_tests(void)
{
    TCase *tests = tcase_create("gradients that are freed in a row");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_that_go_in_a_row_show_a_step);
    tcase_add_test(tests, a_list_that_is_joined_shows_no_step);
    tcase_add_test(tests, a_step_follows_the_last_pass_that_adds);
    tcase_add_test(tests, gradients_may_go_after_the_next_forward_pass);
    tcase_add_test(tests, memory_may_run_out_without_named_steps);
    tcase_add_test(tests, a_row_in_order_of_birth_shows_no_step);
    return tests;
}
