/* Blocks that stay and have no gradients: data, frozen models and workspaces. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE
#define ZERO_GRAD  PY("zero_grad", TORCH "optim/optimizer.py", 1006) "," SCRIPT

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

START_TEST(large_blocks_without_gradients_are_data)
{
    uint64_t weights = standing_model(&standing, 1), data = standing.next;
    standing_block(&standing, 1000000);
    standing_block(&standing, 500000);
    standing_block(&standing, 96); /* a buffer */
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, data, 2, CATEGORY_INPUT);
}
END_TEST

/* Two wide layers hold most of a teacher's bytes; each layer has a bias, too. */
START_TEST(large_blocks_beside_many_small_ones_are_a_frozen_model)
{
    standing_model(&standing, 1);
    uint64_t frozen = standing.next;
    standing_block(&standing, 1000000);
    standing_block(&standing, 500000);
    for (unsigned i = 0; i < 12; i++)
        standing_block(&standing, 96 + 32 * (i / 2));
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, frozen, 14, CATEGORY_PARAMETER);
}
END_TEST

#define ADAPTERS 8u

/* Low-rank adapters hold a few bytes of a model, and Adam's states for them. The layers of the
 * frozen model repeat each size twelve times, as often as four weights with two states each. With
 * `_i`, the trace begins before the first step, which makes the states. */
START_TEST(adapters_train_a_few_bytes_of_a_frozen_model)
{
    struct capture *capture = &standing.capture;
    uint64_t frozen = standing.next;
    for (unsigned i = 0; i < 36; i++)
        standing_block(&standing, 40000 + 10000 * (i / 12));
    uint64_t adapters = standing.next;
    for (unsigned i = 0; i < (_i == 0 ? 3 : 1) * ADAPTERS; i++)
        standing_block(&standing, 64 + 8 * (i % ADAPTERS));
    capture_event(capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < ADAPTERS; i++)
        capture_event(capture, "alloc", 2000 + i, 64 + 8 * i, STACK_BACKWARD);
    capture_free(capture, 1000, 50, ENGINE);
    capture_annotate(capture, "START", "Optimizer.step#AdamW.step", 0);
    for (unsigned i = 0; _i == 1 && i < 2 * ADAPTERS; i++)
        capture_event(capture, "alloc", 3000 + i, 64 + 8 * (i / 2), STACK_STEP);
    capture_annotate(capture, "END", "Optimizer.step#AdamW.step", 0);
    for (unsigned i = 0; i < ADAPTERS; i++)
        capture_free(capture, 2000 + i, 64 + 8 * i, SCRIPT);
    capture_load(capture);
    standing_expect(&standing, frozen, 36, CATEGORY_PARAMETER);
    standing_expect(&standing, adapters, ADAPTERS, CATEGORY_PARAMETER);
    standing_expect(&standing, _i == 0 ? adapters + ADAPTERS : 3000, 2 * ADAPTERS,
                    CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(large_blocks_may_be_tables_with_sparse_gradients)
{
    standing_model(&standing, 1);
    uint64_t tables = standing.next;
    standing_block(&standing, 1000000);
    standing_block(&standing, 500000);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_event(&standing.capture, "alloc", 3000, 300,
                  CPP("at::_ops::index_select::call(x)") "," CPP(
                      "torch::autograd::generated::EmbeddingBagBackward0::apply(x)") "," ENGINE);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    capture_event(&standing.capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&standing.capture, 1001, 50, STACK_STEP);
    capture_load(&standing.capture);
    standing_expect(&standing, tables, 2, CATEGORY_PARAMETER);
}
END_TEST

/* On Hopper, cuBLAS's workspace is as large as a weight of 4096 x 4096 in 2 bytes. */
START_TEST(a_large_workspace_is_no_data)
{
    standing_model(&standing, 1);
    uint64_t workspace = standing.next;
    standing_block(&standing, 32u << 20);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, workspace, 1, CATEGORY_WORKSPACE);
}
END_TEST

START_TEST(many_blocks_of_its_size_are_no_workspaces)
{
    standing_model(&standing, 1);
    uint64_t frozen = standing.next;
    for (unsigned i = 0; i < 8; i++)
        standing_block(&standing, 32u << 20);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, frozen, 8, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(a_smaller_frozen_model_is_a_model)
{
    uint64_t weights = standing_model(&standing, 1), frozen = standing.next;
    standing_block(&standing, 3000);
    standing_block(&standing, 2000);
    standing_step(&standing, NULL);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    standing_expect(&standing, frozen, 2, CATEGORY_PARAMETER);
}
END_TEST

/* Passes use up gradients of activations, which have the size of a frozen weight. Gradients that
 * stay would be added to in the same way. But zero_grad() frees the gradients that there are. */
START_TEST(no_gradient_stays_if_zero_grad_frees_some)
{
    uint64_t weights = standing_model(&standing, 1), frozen;
    standing_model(&standing, 1);
    standing_model(&standing, 1);
    frozen = standing.next;
    for (unsigned i = 0; i < 4; i++)
        standing_block(&standing, 100000);
    capture_event(&standing.capture, "alloc", 1000, 50, STACK_FORWARD);
    capture_event(&standing.capture, "alloc", 3000, 100000, STACK_BACKWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing.capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_free(&standing.capture, 3000, 100000, ACCUMULATE);
    capture_free(&standing.capture, 1000, 50, ENGINE);
    standing_optimize(&standing, "Optimizer.step#Adam.step");
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&standing.capture, 2000 + i, SIZE + 100 * i, ZERO_GRAD);
    capture_load(&standing.capture);
    standing_expect(&standing, weights, LAYERS, CATEGORY_PARAMETER);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_ne(capture_category(&standing.capture, frozen + i), CATEGORY_GRADIENT);
}
END_TEST

TCase *category_frozen_tests(void)
{
    TCase *tests = tcase_create("what stays without gradients");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, large_blocks_without_gradients_are_data);
    tcase_add_test(tests, large_blocks_beside_many_small_ones_are_a_frozen_model);
    tcase_add_loop_test(tests, adapters_train_a_few_bytes_of_a_frozen_model, 0, 2);
    tcase_add_test(tests, large_blocks_may_be_tables_with_sparse_gradients);
    tcase_add_test(tests, a_large_workspace_is_no_data);
    tcase_add_test(tests, many_blocks_of_its_size_are_no_workspaces);
    tcase_add_test(tests, a_smaller_frozen_model_is_a_model);
    tcase_add_test(tests, no_gradient_stays_if_zero_grad_frees_some);
    return tests;
}
