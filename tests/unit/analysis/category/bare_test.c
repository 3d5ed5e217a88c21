/* Traces without stacks in which annotations show the optimizer. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define PARAMETER  4000u
#define ACTIVATION 6000u
#define LAYERS     6u
#define HEAD       7000u

static uint64_t base; /* added to the addresses below */
static uint64_t
    head; /* if not 0, the passes also leave gradients of this size and up, at 400, ... */

static void create_model(void)
{
    create();
    base = head = 0;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, PARAMETER + i, "");
}

static void expect(uint64_t addr, enum category category, enum confidence confidence)
{
    capture_expect(&capture, addr, category, confidence);
}

/* A pair of passes. It saves blocks at 100, ... of the size `saved` and up, and leaves gradients at
 * 300, ... */
static void passes(uint64_t saved)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(base + 100 + i, saved + i);
    for (unsigned i = 0; i < 20;
         i++) { /* temporaries, which lengthen the lives of the other blocks */
        born(40, 24);
        freed(40, 24);
    }
    born(base + 200 + LAYERS, ACTIVATION);
    for (unsigned i = LAYERS; i-- > 0;) {
        born(base + 300 + i, PARAMETER + i);
        born(base + 200 + i, ACTIVATION + i);
        freed(base + 201 + i, ACTIVATION);
        if (head > 0)
            born(base + 400 + i, head + i);
        freed(base + 100 + i, saved + i);
    }
    freed(base + 200, ACTIVATION);
}

static void step(void)
{
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16);
    freed(60, 16);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
}

static void drop_gradients(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        freed(base + 300 + i, PARAMETER + i);
    for (unsigned i = 0; head > 0 && i < LAYERS; i++)
        freed(base + 400 + i, head + i);
}

static void zero_grad(void)
{
    capture_annotate(&capture, "START", "Optimizer.zero_grad#SGD.zero_grad", 0);
    drop_gradients();
    capture_annotate(&capture, "END", "Optimizer.zero_grad#SGD.zero_grad", 0);
}

/* The first gradients are from before the trace, which begins right before they are dropped. */
START_TEST(zero_grad_frees_gradients)
{
    capture_annotate(&capture, "START", "Optimizer.zero_grad#SGD.zero_grad", 0);
    for (unsigned i = 0; i < LAYERS; i++)
        freed(901 + i, PARAMETER + i);
    capture_annotate(&capture, "END", "Optimizer.zero_grad#SGD.zero_grad", 0);
    for (unsigned i = 0; i < 3; i++) {
        passes(ACTIVATION);
        step();
        zero_grad();
    }
    capture_load(&capture);
    for (uint64_t addr = 901; addr < 901 + LAYERS; addr++)
        expect(addr, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
}
END_TEST

/* Layers as wide as their input: the blocks that they save have the sizes of their weights. */
START_TEST(activations_may_have_the_sizes_of_weights)
{
    for (unsigned i = 0; i < 3; i++) {
        passes(PARAMETER);
        step();
        drop_gradients();
    }
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* It may be an evaluation, which keeps nothing. */
START_TEST(what_is_freed_between_passes_is_not_certain)
{
    for (unsigned i = 0; i < 3; i++) {
        passes(ACTIVATION);
        step();
        drop_gradients();
        born(90, 9 * ACTIVATION);
        freed(90, 9 * ACTIVATION);
    }
    capture_load(&capture);
    expect(90, CATEGORY_TEMPORARY, CONFIDENCE_LOW);
}
END_TEST

/* The step of L-BFGS runs the passes itself, several times. */
static void step_with_closure(void)
{
    for (unsigned j = 0; j < 3; j++) {
        passes(ACTIVATION);
        for (unsigned k = 0; k < 20; k++) { /* the line search */
            born(60, 16);
            freed(60, 16);
        }
        zero_grad();
    }
    capture_annotate(&capture, "END", "Optimizer.step#LBFGS.step", 0);
}

/* Gradients that zero_grad() frees in the middle of a step are not taken for what is saved. */
START_TEST(a_step_with_a_closure_holds_its_passes)
{
    for (unsigned i = 0; i < 3; i++) {
        capture_annotate(&capture, "START", "Optimizer.step#LBFGS.step", 0);
        step_with_closure();
    }
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(202, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
}
END_TEST

/* The trace begins in the last pass of such a step. */
START_TEST(a_step_from_before_the_trace_has_a_closure_like_the_next)
{
    passes(ACTIVATION);
    capture_annotate(&capture, "END", "Optimizer.step#LBFGS.step", 0);
    drop_gradients();
    for (unsigned i = 0; i < 2; i++) {
        base = 1000;
        capture_annotate(&capture, "START", "Optimizer.step#LBFGS.step", 0);
        step_with_closure();
    }
    capture_load(&capture);
    expect(100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    expect(202, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
}
END_TEST

/* A variable holds the batch until the next one exists. Until then, the program adds gradients to
 * others and drops them. */
START_TEST(a_pass_ends_before_the_next_batch)
{
    born(50, 9000);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t batch = 50 + i % 2, next = 50 + (i + 1) % 2;
        passes(ACTIVATION);
        drop_gradients();
        born(next, 9000);
        freed(batch, 9000);
        base = 10000; /* the first pass is the one to look at */
    }
    capture_load(&capture);
    expect(303, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* The program drops a part of its model after training, and computes something else. */
START_TEST(weights_may_be_dropped_after_the_last_pass)
{
    head = HEAD;
    for (unsigned i = 0; i < LAYERS; i++)
        born(11 + i, HEAD + i);
    for (unsigned i = 0; i < 4; i++) {
        passes(ACTIVATION);
        step();
        drop_gradients();
    }
    for (unsigned i = 0; i < LAYERS; i++)
        freed(11 + i, HEAD + i);
    born(90, 777);
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++)
        expect(400 + i, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

#define EARLIER 90000u

/* The script keeps a graph with one loss for the backward pass of the next iteration, which never
 * uses it; the pass of another loss comes before that. One of the graphs is older than the trace.
 */
START_TEST(a_graph_that_is_held_is_no_batch)
{
    for (unsigned step_number = 0; step_number < 4; step_number++) {
        base = 1000 * step_number;
        for (unsigned i = 0; i < 14; i++)
            born(base + 500 + i, 9000 + i);
        for (unsigned i = 14; step_number > 0 && i-- > 0;)
            freed(base - 1000 + 500 + i, 9000 + i);
        for (unsigned i = 14; step_number == 1 && i-- > 0;)
            freed(EARLIER + i, 9000 + i);
        passes(ACTIVATION);
        step();
        zero_grad();
    }
    capture_load(&capture);
    for (unsigned i = 0; i < 14; i++) {
        expect(500 + i, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
        expect(EARLIER + i, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
    }
}
END_TEST

/* A batch of many tensors in variables: the next one takes their places from the first to the last.
 */
START_TEST(a_batch_may_have_many_tensors)
{
    for (unsigned step_number = 0; step_number < 4; step_number++) {
        base = 1000 * step_number;
        for (unsigned i = 0; i < 14; i++)
            born(base + 500 + i, 9000 + i);
        for (unsigned i = 0; step_number > 0 && i < 14; i++)
            freed(base - 1000 + 500 + i, 9000 + i);
        passes(ACTIVATION);
        step();
        zero_grad();
    }
    capture_load(&capture);
    for (unsigned i = 0; i < 14; i++)
        ck_assert_int_eq(capture_category(&capture, 1500 + i), CATEGORY_INPUT);
}
END_TEST

/* Before training, the script drops a graph of which no pass shows: the tensors go from the last to
 * the first. Results in variables go from the first to the last, and a list has few sizes. */
START_TEST(a_graph_that_is_dropped_goes_backwards)
{
    unsigned sizes = _i == 2 ? 2 : 12;
    for (unsigned i = 0; i < 12; i++)
        born(500 + i, 9000 + i % sizes);
    for (unsigned i = 0; i < 80; i++) {
        born(40, 24);
        freed(40, 24);
    }
    for (unsigned i = 0; i < 12; i++) {
        unsigned at = _i == 1 ? i : 11 - i;
        freed(500 + at, 9000 + at % sizes);
    }
    for (unsigned step_number = 0; step_number < 4; step_number++) {
        base = 1000 * (step_number + 1);
        passes(ACTIVATION);
        step();
        zero_grad();
    }
    capture_load(&capture);
    for (unsigned i = 0; i < 12; i++)
        if (_i == 0)
            expect(500 + i, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
        else
            ck_assert_int_ne(capture_category(&capture, 500 + i), CATEGORY_ACTIVATION);
}
END_TEST

/* Copies of weights are dropped together with a graph, or with two other tensors, from the last to
 * the first. Their originals stay, and are older; they were made in the trace, or before it. */
START_TEST(copies_that_are_dropped_backwards_are_no_graph)
{
    const bool from_before = _i % 2 == 1, is_graph = _i < 2;
    const unsigned copies = is_graph ? 4 : 10;
    for (unsigned i = 0; i < copies; i++)
        if (from_before)
            capture_block(&capture, 600 + i, 9000 + i, "");
        else
            born(600 + i, 9000 + i);
    for (unsigned i = 0; i < 12; i++)
        born(500 + i, 9000 + i);
    for (unsigned i = 0; i < 80; i++) {
        born(40, 24);
        freed(40, 24);
    }
    for (unsigned i = 12; i-- > 0;)
        freed(500 + i, 9000 + i);
    for (unsigned step_number = 0; step_number < 4; step_number++) {
        base = 1000 * (step_number + 1);
        passes(ACTIVATION);
        step();
        zero_grad();
    }
    capture_load(&capture);
    for (unsigned i = 0; i < 12; i++)
        if (i < copies || !is_graph)
            ck_assert_int_ne(capture_category(&capture, 500 + i), CATEGORY_ACTIVATION);
        else
            expect(500 + i, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
}
END_TEST

/* Each pass leaves blocks that nobody frees, and so did passes before the trace. */
START_TEST(what_passes_leave_for_good_is_no_gradient)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 11 + i, HEAD + i, "");
    for (unsigned step_number = 0; step_number < 4; step_number++) {
        base = 1000 * step_number;
        head = HEAD;
        passes(ACTIVATION);
        step();
        head = 0;
        zero_grad();
    }
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++) {
        expect(1400 + i, CATEGORY_ACTIVATION, CONFIDENCE_LOW);
        expect(11 + i, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
        expect(1300 + i, CATEGORY_GRADIENT, CONFIDENCE_HIGH);
    }
}
END_TEST

/* A part of a pass that leaves one gradient, at 300. */
static void saves_and_frees(uint64_t gradient)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
    for (unsigned i = 0; i < 20; i++) {
        born(40, 24);
        freed(40, 24);
    }
    born(200 + LAYERS, ACTIVATION);
    for (unsigned i = LAYERS; i-- > 0;) {
        if (i == 2)
            born(300, gradient);
        born(200 + i, ACTIVATION + i);
        freed(201 + i, ACTIVATION);
        freed(100 + i, ACTIVATION + i);
    }
    freed(200, ACTIVATION);
}

/* A step that uses the one gradient at 300. */
static void step_alone(uint64_t size)
{
    capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
    born(60, 16);
    freed(60, 16);
    capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
    capture_annotate(&capture, "START", "Optimizer.zero_grad#Adam.zero_grad", 0);
    freed(300, size);
    capture_annotate(&capture, "END", "Optimizer.zero_grad#Adam.zero_grad", 0);
}

/* An optimizer for each weight steps within the backward pass, so that no two gradients are live at
 * once. Adam's states tell that there are two weights of each size. */
START_TEST(steps_within_a_pass_hide_weights_of_one_size)
{
    for (unsigned copy = 0; copy < 5; copy++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_block(&capture, 601 + LAYERS * copy + i, PARAMETER + i, "");
    for (unsigned i = 0; i < 6 * LAYERS; i++) {
        uint64_t size = PARAMETER + i % LAYERS;
        saves_and_frees(size);
        step_alone(size);
    }
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++)
        for (unsigned copy = 0; copy < 5; copy++)
            ck_assert_int_eq(capture_category(&capture, 601 + LAYERS * copy + i),
                             copy == 0 ? CATEGORY_PARAMETER : CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_bare_tests(void)
{
    TCase *tests = tcase_create("categories by annotations without stacks");
    tcase_add_checked_fixture(tests, create_model, destroy);
    tcase_add_test(tests, zero_grad_frees_gradients);
    tcase_add_test(tests, a_step_with_a_closure_holds_its_passes);
    tcase_add_test(tests, a_step_from_before_the_trace_has_a_closure_like_the_next);
    tcase_add_test(tests, activations_may_have_the_sizes_of_weights);
    tcase_add_test(tests, what_is_freed_between_passes_is_not_certain);
    tcase_add_test(tests, a_pass_ends_before_the_next_batch);
    tcase_add_test(tests, weights_may_be_dropped_after_the_last_pass);
    tcase_add_test(tests, a_graph_that_is_held_is_no_batch);
    tcase_add_test(tests, a_batch_may_have_many_tensors);
    tcase_add_loop_test(tests, a_graph_that_is_dropped_goes_backwards, 0, 3);
    tcase_add_loop_test(tests, copies_that_are_dropped_backwards_are_no_graph, 0, 4);
    tcase_add_test(tests, what_passes_leave_for_good_is_no_gradient);
    tcase_add_test(tests, steps_within_a_pass_hide_weights_of_one_size);
    return tests;
}
