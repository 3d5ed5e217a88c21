/* Phases and categories where no stack names the phase: loops written by hand, other threads, and
 * traces without a single stack. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     6u

static struct capture capture;

static void create(void)
{
    capture_init(&capture);
}

static void destroy(void)
{
    capture_release(&capture);
}

static void expect(uint64_t addr, enum category category, enum confidence confidence)
{
    capture_expect(&capture, addr, category, confidence);
}

static void born(uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", addr, size, frames);
}

static void freed(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

/* One allocation a layer is saved, at 100, 101, ... */
static void forward_pass(const char *forward)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i, forward);
}

/* Uses them up in the reverse order, each with a gradient passed on (200, ...) and one that stays
 * (300, ...). */
static void backward_pass(const char *backward)
{
    born(200 + LAYERS, ACTIVATION, backward);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(300 + i, PARAMETER + i, backward);
        born(200 + i, ACTIVATION + i, backward);
        freed(201 + i, ACTIVATION, backward);
        freed(100 + i, ACTIVATION + i, backward);
    }
    freed(200, ACTIVATION, backward);
}

static void one_step(const char *forward, const char *backward)
{
    forward_pass(forward);
    backward_pass(backward);
}

/* velocities at 400, ... in place of those at 500, ... */
static void update_by_hand(const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        born(400 + i, PARAMETER + i, frames);
        freed(500 + i, PARAMETER + i, frames);
        freed(300 + i, PARAMETER + i, frames);
    }
}

static void parameters_before(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
}

START_TEST(a_loop_written_by_hand)
{
    parameters_before();
    born(50, 64, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
    one_step(SCRIPT, ENGINE);
    update_by_hand(SCRIPT);
    freed(50, 64, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(50, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM); /* its phase is inferred */
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_HIGH);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
    expect(403, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(503, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

/* Batches, and what is made of them and stays, of the sizes of weights. */
START_TEST(an_update_ends_with_the_gradients)
{
    parameters_before();
    for (unsigned step = 0; step < 3; step++) {
        for (unsigned i = 0; i < 2; i++) {
            born(700 + 10 * step + i, PARAMETER + i, CPP("at::_ops::mul::call(x)") "," SCRIPT);
            born(600 + i, PARAMETER + i, CPP("at::_ops::randn::call(x)") "," SCRIPT);
        }
        one_step(STACK_FORWARD, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, SCRIPT);
        freed(600, PARAMETER, SCRIPT);
        freed(601, PARAMETER + 1, SCRIPT);
    }
    capture_load(&capture);
    expect(600, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(700, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
    expect(710, CATEGORY_INPUT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_thread_of_autograd_has_no_python)
{
    parameters_before();
    one_step(STACK_FORWARD, "");
    born(60, 16, STACK_STEP);
    freed(60, 16, STACK_STEP);
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_HIGH);
    expect(203, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_thread_that_frees_nothing_of_the_forward_is_none_of_autograds)
{
    born(1, 1000, STACK_FORWARD);
    born(2, 1000, "");
    freed(2, 1000, "");
    born(3, 1000, STACK_FORWARD);
    freed(1, 1000, STACK_FORWARD);
    freed(3, 1000, STACK_FORWARD);
    capture_load(&capture);
    expect(2, CATEGORY_TEMPORARY, CONFIDENCE_HIGH); /* scratch of the forward */
}
END_TEST

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

static void expect_forward_passes(unsigned count)
{
    struct phases phases;
    struct error err;
    ck_assert(phases_build(&phases, capture.timeline, capture.sites, &err));
    unsigned forward = 0;
    for (size_t run = 0; run < phases.count; run++)
        forward += phases.runs[run].phase == PHASE_FORWARD;
    ck_assert_uint_eq(forward, count);
    phases_release(&phases);
}

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

START_TEST(without_a_turn_it_is_a_guess)
{
    parameters_before();
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, "");
        if (i > 0)
            freed(99 + i, ACTIVATION, "");
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    expect(150, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* Each layer's result replaces the one before, if `frees`. */
static void functions_only(bool frees)
{
    parameters_before();
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, SCRIPT);
        if (frees && i > 0)
            freed(99 + i, ACTIVATION, SCRIPT);
    }
    capture_load(&capture);
}

START_TEST(a_model_without_modules_computes_forward)
{
    functions_only(true);
    expect_forward_passes(1);
    expect(1, CATEGORY_PARAMETER, CONFIDENCE_LOW);
    expect(150, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* As clustering does. */
START_TEST(code_with_a_tensor_that_stays_has_data)
{
    born(1, PARAMETER, SCRIPT);
    for (unsigned i = 0; i < 100; i++) {
        born(100 + i, ACTIVATION, SCRIPT);
        if (i > 0)
            freed(99 + i, ACTIVATION, SCRIPT);
    }
    freed(199, ACTIVATION, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_INPUT, CONFIDENCE_LOW);
}
END_TEST

START_TEST(plain_code_that_only_piles_up_computes_nothing)
{
    functions_only(false);
    expect_forward_passes(0);
    expect(1, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
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

/* Three layers pile up too little to be found by that alone. */
static void small_step(void)
{
    for (unsigned i = 0; i < 3; i++)
        born(100 + i, ACTIVATION + i, "");
    for (unsigned i = 3; i-- > 0;) {
        born(300 + i, PARAMETER + i, "");
        freed(100 + i, ACTIVATION + i, "");
    }
}

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

static void annotated_step(void)
{
    one_step("", "");
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16, "");
    freed(60, 16, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i, "");
}

/* Each layer makes temporaries that go in the reverse order, and keeps results, one of them as
 * large as a weight. */
START_TEST(a_forward_pass_may_run_out_of_memory)
{
    parameters_before();
    annotated_step();
    annotated_step();
    for (unsigned layer = 0; layer < 10; layer++) {
        born(700 + layer, 30000, "");
        for (unsigned i = 0; i < LAYERS; i++)
            born(600 + i, 3000 + i, "");
        born(800 + layer, PARAMETER, "");
        for (unsigned i = LAYERS; i-- > 0;)
            freed(600 + i, 3000 + i, "");
    }
    capture_event(&capture, "oom", 50, 5000, "");
    capture_load(&capture);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    for (unsigned layer = 0; layer < 10; layer++) {
        expect(700 + layer, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
        expect(800 + layer, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    }
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

START_TEST(an_annotated_step_has_passes_before_it)
{
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    small_step();
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16, "");
    freed(60, 16, "");
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    for (unsigned i = 0; i < 3; i++)
        freed(300 + i, PARAMETER + i, "");
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_step_that_allocates_nothing_has_passes_before_it)
{
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    for (unsigned step = 0; step < 2; step++) {
        small_step();
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < 3; i++)
            freed(300 + i, PARAMETER + i, "");
    }
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(a_step_may_run_the_passes_itself)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
    for (unsigned step = 0; step < 3; step++) {
        born(60, 16, ""); /* the batch */
        capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
        forward_pass("");
        capture_annotate(&capture, "START", "Optimizer.zero_grad#Adam.zero_grad", 0);
        for (unsigned i = 0; step > 0 && i < LAYERS; i++)
            freed(300 + i, PARAMETER + i, "");
        capture_annotate(&capture, "END", "Optimizer.zero_grad#Adam.zero_grad", 0);
        backward_pass("");
        for (unsigned i = 0; step == 0 && i < LAYERS; i++)
            born(400 + i, PARAMETER + i, "");
        born(50, PARAMETER, "");
        freed(50, PARAMETER, "");
        capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
        freed(60, 16, "");
    }
    capture_load(&capture);
    expect(2, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
    expect(101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    expect(401, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM);
    expect(50, CATEGORY_TEMPORARY, CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(without_the_annotation_little_is_known)
{
    small_step();
    for (unsigned i = 0; i < 3; i++)
        freed(300 + i, PARAMETER + i, "");
    capture_load(&capture);
    expect(101, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
    expect(301, CATEGORY_UNKNOWN, CONFIDENCE_LOW);
}
END_TEST

TCase *category_guess_tests(void)
{
    TCase *tests = tcase_create("categories without stacks");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_loop_written_by_hand);
    tcase_add_test(tests, an_update_ends_with_the_gradients);
    tcase_add_test(tests, a_thread_of_autograd_has_no_python);
    tcase_add_test(tests, a_thread_that_frees_nothing_of_the_forward_is_none_of_autograds);
    tcase_add_test(tests, without_stacks_the_lifetimes_tell);
    tcase_add_test(tests, a_piece_computed_again_belongs_to_the_backward);
    tcase_add_test(tests, a_network_without_gradients_is_no_pair_of_passes);
    tcase_add_test(tests, what_a_variable_holds_does_not_join_steps);
    tcase_add_test(tests, without_a_turn_it_is_a_guess);
    tcase_add_test(tests, a_model_without_modules_computes_forward);
    tcase_add_test(tests, code_with_a_tensor_that_stays_has_data);
    tcase_add_test(tests, plain_code_that_only_piles_up_computes_nothing);
    tcase_add_test(tests, gradients_may_stay);
    tcase_add_test(tests, copies_in_a_wider_type);
    tcase_add_test(tests, what_outlives_a_forward_without_a_backward);
    tcase_add_test(tests, cublas_workspaces_have_a_size);
    tcase_add_test(tests, a_product_makes_its_workspace);
    tcase_add_test(tests, a_model_that_is_made_of_parts_is_no_forward);
    tcase_add_test(tests, a_forward_pass_may_run_out_of_memory);
    tcase_add_test(tests, states_may_be_made_in_a_pass);
    tcase_add_test(tests, a_list_of_scalars_is_no_forward);
    tcase_add_test(tests, gradients_have_the_sizes_of_weights);
    tcase_add_test(tests, an_annotated_step_has_passes_before_it);
    tcase_add_test(tests, a_step_that_allocates_nothing_has_passes_before_it);
    tcase_add_test(tests, a_step_may_run_the_passes_itself);
    tcase_add_test(tests, without_the_annotation_little_is_known);
    return tests;
}
