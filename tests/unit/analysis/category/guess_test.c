/* Phases and categories in traces without a single stack. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/layer_passes.h"

START_TEST(without_stacks_the_lifetimes_tell)
{
    parameters_before();
    for (int step = 0; step < 2; step++) {
        one_step("", "");
        update_by_hand("");
        for (unsigned i = 0; i < LAYERS; i++)
            freed(400 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* If no weights exist before the first pass, the passes may lie elsewhere. */
START_TEST(passes_without_weights_are_a_guess)
{
    if (_i == 1)
        parameters_before();
    for (int step = 0; step < 3; step++) {
        one_step("", "");
        for (unsigned i = 0; i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, _i == 1 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
}
END_TEST

/* Simulates checkpointing: two blocks are saved, and each segment is recomputed for the backward
 * pass. */
START_TEST(a_piece_computed_again_belongs_to_the_backward)
{
    parameters_before();
    for (unsigned i = 0; i < 4; i++)
        born(10 + i, 77, "");
    one_step("", "");
    one_step("", "");
    for (unsigned i = 4; i-- > 0;)
        freed(10 + i, 77, "");
    capture_load(&capture);
    expect_forward_passes(1);
}
END_TEST

/* A teacher piles up blocks and frees them in the reverse order, too. */
START_TEST(a_network_without_gradients_is_no_pair_of_passes)
{
    parameters_before();
    for (unsigned i = 0; i < LAYERS + 2; i++)
        born(500 + i, 6000 + i, "");
    for (unsigned i = LAYERS + 2; i-- > 0;) {
        born(600 + i, 7000 + i, "");
        freed(500 + i, 6000 + i, "");
        freed(600 + i, 7000 + i, "");
    }
    one_step("", "");
    capture_load(&capture);
    expect_forward_passes(1);
    expect(103, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(what_a_variable_holds_does_not_join_steps)
{
    parameters_before();
    for (unsigned i = 0; i < 3; i++)
        born(60 + i, 880 + i, ""); /* replaced in the next step, after its forward pass */
    one_step("", "");
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i, "");
    forward_pass("");
    for (unsigned i = 0; i < 3; i++)
        freed(60 + i, 880 + i, "");
    backward_pass("");
    capture_load(&capture);
    expect_forward_passes(2);
    expect(103, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(gradients_may_stay)
{
    for (unsigned copy = 0; copy < 4; copy++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_block(&capture, 1 + copy * 10 + i, PARAMETER + i, "");
    one_step(STACK_FORWARD, ENGINE);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i, CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE);
    born(60, 16, STACK_STEP);
    freed(60, 16, STACK_STEP);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    expect(11, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    expect(21, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    expect(31, CATEGORY_GRADIENT, CONFIDENCE_LOW);
}
END_TEST

START_TEST(copies_in_a_wider_type)
{
    parameters_before();
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 20 + i, 2 * (PARAMETER + i), "");
    one_step(STACK_FORWARD, ENGINE);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(20, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

START_TEST(what_outlives_a_forward_without_a_backward)
{
    born(1, 1000, STACK_FORWARD);
    born(2, 1000, SCRIPT);
    freed(2, 1000, SCRIPT);
    born(3, 1000, STACK_FORWARD);
    freed(1, 1000, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

START_TEST(cublas_workspaces_have_a_size)
{
    capture_block(&capture, 1, 8519680, "");
    born(2, 8519680, "");
    born(3, 8519681, "");
    capture_load(&capture);
    expect(1, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    expect(2, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    expect(3, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

#define HOPPER       33554432
#define PRODUCT      CPP("aten::mm") "," CPP("AddmmBackward0")
#define NO_PRODUCT   CPP("aten::mul") "," CPP("MulBackward0")
#define NEXT_PRODUCT CPP("aten::mm") "," CPP("MmBackward0")

/* Profiler traces have no C++ frames: the workspace is made after the result, and stays. */
START_TEST(a_product_makes_its_workspace)
{
    born(1, 512, PRODUCT);
    born(2, HOPPER, PRODUCT); /* after its result */
    born(3, HOPPER, PRODUCT); /* a result of that size */
    born(4, 512, NEXT_PRODUCT);
    born(5, 8519680, NEXT_PRODUCT);
    born(6, 512, NO_PRODUCT);
    born(7, HOPPER, NO_PRODUCT);
    born(8, 512, PRODUCT);
    born(9, HOPPER, PRODUCT); /* another result, which is used */
    born(10, 512, NO_PRODUCT);
    freed(9, HOPPER, NO_PRODUCT);
    born(11, 512, PRODUCT);
    born(12, HOPPER, PRODUCT); /* freed in the product */
    freed(12, HOPPER, PRODUCT);
    capture_load(&capture);
    expect(2, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    expect(5, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    expect(12, CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM);
    for (uint64_t addr = 1; addr <= 11; addr += 2)
        if (addr != 5)
            ck_assert_int_ne(capture_category(&capture, addr), CATEGORY_WORKSPACE);
}
END_TEST

/* Parts of 20 models, stacked into one tensor for each layer, and dropped in the reverse order. */
static void stack_models(void)
{
    for (unsigned i = 0; i < 20; i++)
        born(1000 + i, 300 + i % LAYERS, "");
    for (unsigned i = 0; i < LAYERS; i++)
        born(1 + i, PARAMETER + i, "");
    for (unsigned i = 20; i-- > 0;)
        freed(1000 + i, 300 + i % LAYERS, "");
}

START_TEST(a_model_that_is_made_of_parts_is_no_forward)
{
    stack_models();
    born(40, PARAMETER, ""); /* data */
    for (unsigned step = 0; step < 2; step++) {
        one_step("", "");
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16, "");
        freed(60, 16, "");
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(3, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(102, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(302, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* A hook updates each weight as soon as its gradient is there, with two states. */
START_TEST(states_may_be_made_in_a_pass)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        forward_pass("");
        born(200 + LAYERS, ACTIVATION, "");
        for (unsigned i = LAYERS; i-- > 0;) {
            born(300 + i, PARAMETER + i, "");
            for (unsigned state = 0; step == 0 && state < 2; state++)
                born(400 + 100 * state + i, PARAMETER + i, "");
            born(200 + i, ACTIVATION + i, "");
            freed(300 + i, PARAMETER + i, "");
            freed(201 + i, ACTIVATION, "");
            freed(100 + i, ACTIVATION + i, "");
        }
        freed(200, ACTIVATION, "");
    }
    capture_load(&capture);
    expect(3, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(103, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(403, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    expect(503, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

/* The norms of all gradients, dropped in the reverse order while copies of gradients are made. */
START_TEST(a_list_of_scalars_is_no_forward)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        one_step("", "");
        for (unsigned i = 0; step < 2 && i < LAYERS; i++)
            born(600 + i, 4, "");
        for (unsigned i = LAYERS; step < 2 && i-- > 0;) {
            born(700 + i, PARAMETER + i, "");
            freed(600 + i, 4, "");
        }
        for (unsigned i = 0; i < LAYERS; i++) {
            if (step < 2)
                freed(700 + i, PARAMETER + i, "");
            freed(300 + i, PARAMETER + i, "");
        }
    }
    capture_load(&capture);
    expect(102, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(302, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    expect(604, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

/* What is made between the pass and the annotated step seems to belong to the pass. */
START_TEST(gradients_have_the_sizes_of_weights)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        one_step("", "");
        born(800 + step, 9000, "");        /* a result that is kept */
        born(900, 7000, "");               /* and one that is not */
        born(901, 5 * PARAMETER + 10, ""); /* five gradients in one vector */
        born(902, 16, "");
        freed(902, 16, "");
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16, "");
        freed(60, 16, "");
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        freed(900, 7000, "");
        freed(901, 5 * PARAMETER + 10, "");
        for (unsigned i = 0; i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(302, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    expect(801, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
    expect(900, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
    expect(901, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

TCase *category_guess_tests(void)
{
    TCase *tests = tcase_create("categories without stacks");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, without_stacks_the_lifetimes_tell);
    tcase_add_loop_test(tests, passes_without_weights_are_a_guess, 0, 2);
    tcase_add_test(tests, a_piece_computed_again_belongs_to_the_backward);
    tcase_add_test(tests, a_network_without_gradients_is_no_pair_of_passes);
    tcase_add_test(tests, what_a_variable_holds_does_not_join_steps);
    tcase_add_test(tests, gradients_may_stay);
    tcase_add_test(tests, copies_in_a_wider_type);
    tcase_add_test(tests, what_outlives_a_forward_without_a_backward);
    tcase_add_test(tests, cublas_workspaces_have_a_size);
    tcase_add_test(tests, a_product_makes_its_workspace);
    tcase_add_test(tests, a_model_that_is_made_of_parts_is_no_forward);
    tcase_add_test(tests, states_may_be_made_in_a_pass);
    tcase_add_test(tests, a_list_of_scalars_is_no_forward);
    tcase_add_test(tests, gradients_have_the_sizes_of_weights);
    return tests;
}
