/* Gradients of every sample of a batch, as torch.func.vmap() of grad() makes them. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define WEIGHTS 6u
#define SAMPLES 16u
#define STEPS   4u
#define SAVED   10u

/* What an autograd thread frees, which runs no Python. */
#define THREAD CPP("torch::autograd::Engine::evaluate_function(x)")

static uint64_t size_of(unsigned weight)
{
    return 4000 + 100 * weight;
}

static void make_weights(void)
{
    for (unsigned i = 0; i < WEIGHTS; i++) {
        capture_event(&capture, "alloc", 1 + i, size_of(i), "");
        capture_block(&capture, 1 + i, size_of(i), "");
    }
}

/* The pass keeps its graph until it is over; the step takes the norm of each gradient. */
static void step(uint64_t first, const char *forward, const char *backward, const char *update)
{
    for (unsigned i = 0; i < SAVED; i++)
        capture_event(&capture, "alloc", first + i, 90000 + 1000 * i, forward);
    for (unsigned i = WEIGHTS; i-- > 0;)
        capture_event(&capture, "alloc", first + 100 + i, SAMPLES * size_of(i), backward);
    for (unsigned i = SAVED; i-- > 0;)
        capture_free(&capture, first + i, 90000 + 1000 * i, backward);
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_event(&capture, "alloc", first + 200 + i, 8 * SAMPLES, update);
}

/* The gradients of a step, and their norms. */
static void drop(uint64_t first, const char *stack)
{
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_free(&capture, first + 100 + i, SAMPLES * size_of(i), stack);
    for (unsigned i = 0; i < WEIGHTS; i++)
        capture_free(&capture, first + 200 + i, 8 * SAMPLES, stack);
}

static void expect_gradients(void)
{
    for (unsigned at = 0; at < STEPS; at++)
        for (unsigned i = 0; i < WEIGHTS; i++) {
            uint8_t reason;
            enum category found =
                capture_category_why(&capture, 1000 * (at + 1) + 100 + i, &reason);
            ck_assert_msg(found == CATEGORY_GRADIENT, "step %u, weight %u: %s: %s", at, i,
                          category_name(found), reason_name(reason));
        }
}

/* The program drops them when the step is over (0), or holds them until the next ones are there. */
START_TEST(lifetimes_show_gradients_of_each_sample)
{
    make_weights();
    for (unsigned at = 0; at < STEPS; at++) {
        step(1000 * (at + 1), "", "", "");
        if (_i == 0)
            drop(1000 * (at + 1), "");
        else if (at > 0)
            drop(1000 * at, "");
    }
    capture_load(&capture);
    expect_gradients();
    ck_assert_int_eq(capture_category(&capture, 2000 + SAVED - 1), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 1), CATEGORY_PARAMETER);
}
END_TEST

/* Hooks make them while the pass frees what was saved for it, each with a scratch block. The script
 * sums each one up for the optimizer, and drops it. */
static void hooked_step(uint64_t first)
{
    for (unsigned i = 0; i < SAVED; i++)
        capture_event(&capture, "alloc", first + i, 90000 + 1000 * i, "");
    for (unsigned i = WEIGHTS; i-- > 0;) {
        capture_event(&capture, "alloc", first + 100 + i, SAMPLES * size_of(i), "");
        capture_event(&capture, "alloc", first + 400 + i, 70000, "");
        capture_free(&capture, first + SAVED - WEIGHTS + i, 90000 + 1000 * (SAVED - WEIGHTS + i),
                     "");
        capture_free(&capture, first + 400 + i, 70000, "");
    }
    for (unsigned i = SAVED - WEIGHTS; i-- > 0;)
        capture_free(&capture, first + i, 90000 + 1000 * i, "");
    for (unsigned i = 0; i < WEIGHTS; i++) {
        capture_event(&capture, "alloc", first + 300 + i, size_of(i), "");
        capture_free(&capture, first + 100 + i, SAMPLES * size_of(i), "");
    }
}

/* With (1) or without (0) annotated steps. */
START_TEST(hooks_make_gradients_of_each_sample)
{
    make_weights();
    for (unsigned at = 0; at < STEPS; at++) {
        uint64_t first = 1000 * (at + 1);
        hooked_step(first);
        if (_i == 1)
            capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        capture_event(&capture, "alloc", first + 500, 300, "");
        capture_free(&capture, first + 500, 300, "");
        if (_i == 1)
            capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < WEIGHTS; i++)
            capture_free(&capture, first + 300 + i, size_of(i), "");
    }
    capture_load(&capture);
    expect_gradients();
    ck_assert_int_eq(capture_category(&capture, 2000 + SAVED - 1), CATEGORY_ACTIVATION);
}
END_TEST

/* What a pass saves may be as many times as large as each weight, but there is more of it for some
 * weights than for others. */
START_TEST(activations_of_such_sizes_are_no_gradients)
{
    make_weights();
    for (unsigned at = 0; at < STEPS; at++) {
        uint64_t first = 1000 * (at + 1), saved = 0;
        for (unsigned i = 0; i < WEIGHTS; i++)
            for (unsigned n = 0; n <= i % 3; n++)
                capture_event(&capture, "alloc", first + saved++, SAMPLES * size_of(i), "");
        for (unsigned i = WEIGHTS; i-- > 0;) {
            capture_event(&capture, "alloc", first + 300 + i, size_of(i), "");
            for (unsigned n = 0; n <= i % 3; n++)
                capture_free(&capture, first + --saved, SAMPLES * size_of(i), "");
        }
        for (unsigned i = 0; i < WEIGHTS; i++)
            capture_free(&capture, first + 300 + i, size_of(i), "");
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 2000 + WEIGHTS), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 2300), CATEGORY_GRADIENT);
}
END_TEST

/* A thread of autograd may hold them, and frees them in the next pass. */
START_TEST(a_thread_may_hold_gradients_of_each_sample)
{
    make_weights();
    for (unsigned at = 0; at < STEPS; at++) {
        step(1000 * (at + 1), STACK_FORWARD, STACK_BACKWARD, SCRIPT);
        if (at > 0)
            drop(1000 * at, THREAD);
    }
    capture_load(&capture);
    expect_gradients();
}
END_TEST

/* Results of a model without a backward pass may be as many times as large as its weights. */
START_TEST(results_of_a_model_are_no_gradients)
{
    make_weights();
    for (uint64_t at = 0; at < STEPS * 4; at++) {
        uint64_t first = 1000 * (at + 1);
        for (unsigned i = 0; i < WEIGHTS; i++) {
            capture_event(&capture, "alloc", first + i, SAMPLES * size_of(i), "");
            if (i > 0)
                capture_free(&capture, first + i - 1, SAMPLES * size_of(i - 1), "");
        }
        capture_free(&capture, first + WEIGHTS - 1, SAMPLES * size_of(WEIGHTS - 1), "");
    }
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 2000), CATEGORY_ACTIVATION);
}
END_TEST

#define POWERS 4u

/* Noise for each weight, as evolution strategies draw it, and a result: all are eight times as
 * large as some weight, but for the smallest. */
START_TEST(sizes_of_other_weights_tell_nothing)
{
    for (unsigned i = 0; i < POWERS; i++) {
        capture_event(&capture, "alloc", 1 + i, UINT64_C(4096) << 3 * i, "");
        capture_block(&capture, 1 + i, UINT64_C(4096) << 3 * i, "");
    }
    for (uint64_t at = 1; at <= STEPS; at++) {
        for (unsigned i = 0; i < SAVED; i++)
            capture_event(&capture, "alloc", 1000 * at + 100 + i, 900 + i, "");
        for (unsigned i = 0; i <= POWERS; i++)
            capture_event(&capture, "alloc", 1000 * at + i, UINT64_C(4096) << 3 * i, "");
        for (unsigned i = 0; i < SAVED; i++) {
            capture_event(&capture, "alloc", 1000 * at + 200 + i, 700, "");
            capture_free(&capture, 1000 * at + 100 + i, 900 + i, "");
        }
        for (unsigned i = 0; i <= POWERS; i++)
            capture_free(&capture, 1000 * at + i, UINT64_C(4096) << 3 * i, "");
        for (unsigned i = 0; i < SAVED; i++)
            capture_free(&capture, 1000 * at + 200 + i, 700, "");
    }
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 2000 + POWERS), CATEGORY_GRADIENT);
}
END_TEST

TCase *category_samples_tests(void)
{
    TCase *tests = tcase_create("gradients of each sample");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, lifetimes_show_gradients_of_each_sample, 0, 2);
    tcase_add_loop_test(tests, hooks_make_gradients_of_each_sample, 0, 2);
    tcase_add_test(tests, activations_of_such_sizes_are_no_gradients);
    tcase_add_test(tests, a_thread_may_hold_gradients_of_each_sample);
    tcase_add_test(tests, results_of_a_model_are_no_gradients);
    tcase_add_test(tests, sizes_of_other_weights_tell_nothing);
    return tests;
}
