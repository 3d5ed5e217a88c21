/* Kronecker factors that hooks make while the program trains. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define LAYERS 3u
#define STEPS  7u
#define HOOK   CPP("at::_ops::div_Tensor::call(x)") "," PY("average", "/home/u/kfac.py", 21)
#define AHEAD  HOOK "," CALL "," SCRIPT
#define BEHIND HOOK "," CPP("torch::autograd::PyFunctionPreHook::operator()(x)") "," ENGINE

static uint64_t width_of(unsigned layer)
{
    return 30 + 10 * layer;
}

/* The sizes of factors: of the inputs of a layer, with one more column if it has a bias, or of the
 * gradients of its output. */
static uint64_t factor_size(unsigned layer, bool has_bias)
{
    uint64_t width = width_of(layer) + has_bias;
    return 4 * width * width;
}

static uint64_t graph[10]; /* sizes of what the first forward pass keeps besides; 0: nothing */
static bool gathers;       /* each pass keeps what the hooks make */

static void begin(void)
{
    memset(graph, 0, sizeof(graph));
    gathers = false;
    create();
}

/* A hook makes these blocks in each pass. Those of the first pass are kept as averages. */
static void average(unsigned at, uint64_t addr, uint64_t size, const char *stack)
{
    capture_event(&capture, "alloc", addr + 100 * at, size, stack);
    if (at > 0 && !gathers)
        capture_free(&capture, addr + 100 * at, size, stack);
}

static void keep(uint64_t addr, uint64_t size)
{
    capture_event(&capture, "alloc", addr, size, "");
    capture_block(&capture, addr, size, "");
}

/* `add` changes the sizes of the factors so that they match no weight. */
static void train(uint64_t add, bool has_bias)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        keep(1 + i, 4 * width_of(i) * width_of(i + 1));
        if (has_bias)
            keep(11 + i, 4 * width_of(i + 1));
    }
    for (unsigned at = 0; at < STEPS; at++) {
        for (unsigned i = 0; at == 0 && i < 10 && graph[i] > 0; i++) {
            capture_event(&capture, "alloc", 3000 + i, graph[i], STACK_FORWARD);
            capture_block(&capture, 3000 + i, graph[i], STACK_FORWARD);
        }
        for (unsigned i = 0; i < LAYERS; i++) {
            average(at, 1010 + i, factor_size(i, has_bias) + add, AHEAD);
            capture_event(&capture, "alloc", 20 + i, 7000, STACK_FORWARD);
        }
        for (unsigned i = LAYERS; i-- > 0;) {
            average(at, 1020 + i, factor_size(i + 1, false) + add, BEHIND);
            capture_event(&capture, "alloc", 30 + i, 4 * width_of(i) * width_of(i + 1),
                          STACK_BACKWARD);
            if (has_bias)
                capture_event(&capture, "alloc", 50 + i, 4 * width_of(i + 1), STACK_BACKWARD);
            capture_free(&capture, 20 + i, 7000, ENGINE);
        }
        capture_event(&capture, "alloc", 40, 50, STACK_STEP);
        capture_free(&capture, 40, 50, STACK_STEP);
        for (unsigned i = 0; i < LAYERS; i++) {
            capture_free(&capture, 30 + i, 4 * width_of(i) * width_of(i + 1), SCRIPT);
            if (has_bias)
                capture_free(&capture, 50 + i, 4 * width_of(i + 1), SCRIPT);
        }
    }
    for (unsigned i = 0; i < LAYERS; i++)
        for (unsigned at = 0; at == 0 || (gathers && at < STEPS); at++) {
            capture_block(&capture, 1010 + i + 100 * at, factor_size(i, has_bias) + add, AHEAD);
            capture_block(&capture, 1020 + i + 100 * at, factor_size(i + 1, false) + add, BEHIND);
        }
}

static void expect_factors(void)
{
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++)
        for (uint64_t addr = 1010 + i; addr <= 1020 + i; addr += 10) {
            uint8_t reason;
            enum category found = capture_category_why(&capture, addr, &reason);
            ck_assert_msg(found == CATEGORY_OPTIMIZER_STATE &&
                              reason_of(reason) == REASON_STATE_FACTORS,
                          "%d: %s: %s", (int)addr, category_name(found), reason_name(reason));
        }
    ck_assert_int_eq(capture_category(&capture, 30), CATEGORY_GRADIENT);
}

START_TEST(factors_of_hooks_are_states)
{
    train(0, false);
    expect_factors();
}
END_TEST

/* The bias is one more column of the weight. */
START_TEST(factors_may_be_of_the_bias_too)
{
    train(0, true);
    expect_factors();
}
END_TEST

/* Inverses may be stored in half as many bits. */
START_TEST(half_of_the_factors_may_be_saved)
{
    int64_t factors = 0;
    train(0, false);
    for (unsigned i = 0; i < LAYERS; i++)
        factors += (int64_t)(factor_size(i, false) + factor_size(i + 1, false));
    ck_assert_int_eq(capture_saving(&capture, FINDING_OPTIMIZER_STATE), factors / 2);
}
END_TEST

START_TEST(other_sizes_are_none)
{
    train(12, false);
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++) {
        ck_assert_int_ne(capture_category(&capture, 1010 + i), CATEGORY_OPTIMIZER_STATE);
        ck_assert_int_ne(capture_category(&capture, 1020 + i), CATEGORY_OPTIMIZER_STATE);
    }
}
END_TEST

static void expect_no_factors(void)
{
    capture_load(&capture);
    for (unsigned i = 0; i < LAYERS; i++)
        ck_assert_int_ne(capture_category(&capture, 1010 + i), CATEGORY_OPTIMIZER_STATE);
}

/* Graphs that a variable keeps hold tensors of all sizes. Some are as large as factors would be. */
START_TEST(graphs_that_stay_hold_other_sizes)
{
    for (unsigned i = 0; i < 10; i++)
        graph[i] = 20000 + 10 * i;
    train(0, false);
    expect_no_factors();
}
END_TEST

/* Factors are replaced, or updated in place, so they do not become more. */
START_TEST(results_that_gather_are_no_factors)
{
    gathers = true;
    train(0, false);
    expect_no_factors();
}
END_TEST

TCase *category_late_factors_tests(void)
{
    TCase *tests = tcase_create("late factors");
    tcase_add_checked_fixture(tests, begin, destroy);
    tcase_add_test(tests, factors_of_hooks_are_states);
    tcase_add_test(tests, factors_may_be_of_the_bias_too);
    tcase_add_test(tests, half_of_the_factors_may_be_saved);
    tcase_add_test(tests, other_sizes_are_none);
    tcase_add_test(tests, graphs_that_stay_hold_other_sizes);
    tcase_add_test(tests, results_that_gather_are_no_factors);
    return tests;
}
