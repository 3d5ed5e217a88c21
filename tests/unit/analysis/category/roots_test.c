/* Roots of backward passes, in traces without stacks: the gradient of the loss by itself. */
#include "analysis/phase/phases.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define PARAMETER  4000u
#define ACTIVATION 5000u
#define LAYERS     12u
#define LOSS       50u /* addresses */
#define ROOT       51u
#define TRANSIENT  500u
#define STATE      700u
#define BLOCKS     8u /* of a layer that is computed again */
#define PARTS      3u /* its weights */

static void create_model(void)
{
    create();
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 600 + i, PARAMETER + i, "");
}

static void forward(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i);
}

static void backward(unsigned pass, bool makes_states)
{
    for (unsigned i = LAYERS; i-- > 0;) {
        born(200 + i, ACTIVATION + i);
        born(300 + i, PARAMETER + i);
        if (makes_states && pass == 0) {
            born(STATE + i, PARAMETER + i);
            capture_block(&capture, STATE + i, PARAMETER + i, "");
        }
        freed(100 + i, ACTIVATION + i);
        freed(200 + i, ACTIVATION + i);
    }
}

static void free_gradients(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i);
}

/* The first operators of the backward pass need more blocks than the forward pass saved. */
static void make_transients(void)
{
    for (unsigned i = 0; i < 2 * LAYERS; i++)
        born(TRANSIENT + i, 9000 + i);
    for (unsigned i = 2 * LAYERS; i-- > 0;)
        freed(TRANSIENT + i, 9000 + i);
}

START_TEST(the_backward_pass_begins_with_its_root)
{
    for (unsigned pass = 0; pass < 4; pass++) {
        born(40, 20000); /* the batch */
        if (pass > 0)
            freed(41, 20000);
        forward();
        if (pass > 0)
            freed(LOSS + 2 * (pass - 1), 4);
        born(LOSS + 2 * pass, 4); /* a variable holds it until the next one exists */
        born(ROOT + 2 * pass, 4);
        make_transients();
        backward(pass, false);
        freed(ROOT + 2 * pass, 4);
        free_gradients();
        freed(40, 20000);
        born(41, 20000);
    }
    capture_load(&capture);
    capture_expect(&capture, TRANSIENT, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    capture_expect(&capture, 101, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
}
END_TEST

/* What the first pass leaves in the sizes of gradients is a state if gradients come and go. */
START_TEST(states_that_hooks_make_are_no_gradients)
{
    for (unsigned pass = 0; pass < 4; pass++) {
        forward();
        born(ROOT, 4);
        backward(pass, true);
        freed(ROOT, 4);
        free_gradients();
    }
    capture_load(&capture);
    capture_expect(&capture, STATE + 1, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
    capture_expect(&capture, 301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* A script's variables hold all but one of its few results. So only roots show passes. The loss
 * encloses the gradients, too, but lives longer. */
START_TEST(roots_show_passes_that_save_little)
{
    capture_block(&capture, 20, 90000, ""); /* the data */
    for (unsigned pass = 0; pass < 4; pass++) {
        born(100, ACTIVATION);
        born(LOSS + 2 * pass, 4);
        if (pass > 0)
            freed(LOSS + 2 * (pass - 1), 4);
        born(ROOT + 2 * pass, 4);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(TRANSIENT, 9000 + i);
            born(301 + i, PARAMETER + i);
            freed(TRANSIENT, 9000 + i);
        }
        freed(100, ACTIVATION);
        freed(ROOT + 2 * pass, 4);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(301 + i, PARAMETER + i);
    }
    capture_load(&capture);
    capture_expect(&capture, 301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    capture_expect(&capture, 100, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    capture_expect(&capture, 601, CATEGORY_PARAMETER, CONFIDENCE_MEDIUM);
}
END_TEST

/* Makes a block for a variable, which held another until then. */
static void assign(uint64_t addr, unsigned pass, uint64_t size)
{
    born(addr + pass, size);
    if (pass > 0)
        freed(addr + pass - 1, size);
}

/* The variables of a script hold the first results until the next iteration. */
START_TEST(held_results_are_no_batch)
{
    for (unsigned pass = 0; pass < 4; pass++) {
        assign(40, pass, 20000); /* the batch */
        for (unsigned i = 0; i < 3; i++) {
            born(TRANSIENT, 9000 + i);
            assign(900 + 10 * i, pass, ACTIVATION + i);
            freed(TRANSIENT, 9000 + i);
        }
        forward();
        born(ROOT, 4);
        backward(pass, false);
        freed(ROOT, 4);
        free_gradients();
    }
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, 900 + 10 * i + 3, ACTIVATION + i, "");
    capture_block(&capture, 43, 20000, "");
    capture_load(&capture);
    capture_expect(&capture, 41, CATEGORY_INPUT, CONFIDENCE_LOW);
    capture_expect(&capture, 901, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
    capture_expect(&capture, 912, CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM);
}
END_TEST

/* Each layer is computed again in the backward pass, which goes back through it. */
static void compute_again(unsigned layer)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        born(100 + i, ACTIVATION + i);
    for (unsigned i = BLOCKS; i-- > 0;) {
        born(200 + i, ACTIVATION + i);
        if (i < PARTS)
            born(300 + layer * PARTS + i, PARAMETER + layer * PARTS + i);
        freed(100 + i, ACTIVATION + i);
        freed(200 + i, ACTIVATION + i);
    }
}

START_TEST(layers_that_save_nothing_make_one_backward_pass)
{
    for (unsigned pass = 0; pass < 4; pass++) {
        for (unsigned i = 0; i < LAYERS; i++) {
            born(TRANSIENT, 9000);
            freed(TRANSIENT, 9000);
        }
        born(LOSS, 4);
        born(ROOT, 4);
        for (unsigned layer = LAYERS / PARTS; layer-- > 0;)
            compute_again(layer);
        freed(ROOT, 4);
        freed(LOSS, 4);
        free_gradients();
    }
    capture_load(&capture);
    capture_expect(&capture, 101, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
    capture_expect(&capture, 301, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
}
END_TEST

/* Copies of the gradients in a wider type, to which further passes add before the step. The trace
 * ends before a step. */
START_TEST(main_gradients_are_none_of_the_states)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, STATE + i, 2 * (PARAMETER + i), "");
    for (unsigned pass = 0; pass < 9; pass++) {
        forward();
        born(ROOT, 4);
        backward(pass, false);
        freed(ROOT, 4);
        for (unsigned i = 0; i < LAYERS; i++) {
            if (pass % 3 == 0)
                born(800 + i, 2 * (PARAMETER + i));
            freed(300 + i, PARAMETER + i);
        }
        if (pass % 3 != 2 || pass == 8)
            continue;
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 2 * PARAMETER);
        freed(60, 2 * PARAMETER);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        capture_annotate(&capture, "START", "Optimizer.zero_grad#SGD.zero_grad", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(800 + i, 2 * (PARAMETER + i));
        capture_annotate(&capture, "END", "Optimizer.zero_grad#SGD.zero_grad", 0);
    }
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 800 + i, 2 * (PARAMETER + i), "");
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 803), CATEGORY_GRADIENT);
}
END_TEST

TCase *category_roots_tests(void)
{
    TCase *tests = tcase_create("roots of backward passes");
    tcase_add_checked_fixture(tests, create_model, destroy);
    tcase_add_test(tests, the_backward_pass_begins_with_its_root);
    tcase_add_test(tests, roots_show_passes_that_save_little);
    tcase_add_test(tests, states_that_hooks_make_are_no_gradients);
    tcase_add_test(tests, held_results_are_no_batch);
    tcase_add_test(tests, layers_that_save_nothing_make_one_backward_pass);
    tcase_add_test(tests, main_gradients_are_none_of_the_states);
    return tests;
}
