/* The roles of blocks that stay, by the sizes of all of them together. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE

#define LAYERS 4u
#define FLAT   (LAYERS * SIZE + 600u) /* all layers */
#define SIZE   4000u                  /* of the first layer; no size is twice another */

static struct capture capture;
static uint64_t next;

static void create(void)
{
    capture_init(&capture);
    next = 1;
}

static void destroy(void)
{
    capture_release(&capture);
}

static void expect_all(uint64_t first, unsigned count, enum category category)
{
    for (uint64_t addr = first; addr < first + count; addr++) {
        uint8_t reason;
        enum category found = capture_category_why(&capture, addr, &reason);
        ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                      reason_name(reason));
    }
}

/* A copy of the model from before the trace, `wide` times as large; its first address. */
static uint64_t copy_of_model(unsigned wide)
{
    uint64_t first = next;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, next++, (SIZE + 100 * i) * wide, "");
    return first;
}

static void block(uint64_t size)
{
    capture_block(&capture, next++, size, "");
}

static void one_step(const char *optimizer)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    if (optimizer)
        capture_annotate(&capture, "START", optimizer, 0);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    if (optimizer)
        capture_annotate(&capture, "END", optimizer, 0);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, 2000 + i, SIZE + 100 * i, SCRIPT);
}

START_TEST(one_copy_more_than_adam_needs_is_a_model)
{
    uint64_t weights = copy_of_model(1), average = copy_of_model(1), states = copy_of_model(1);
    copy_of_model(1);
    one_step("Optimizer.step#AdamW.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(average, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(sgd_keeps_one_state)
{
    uint64_t weights = copy_of_model(1), average = copy_of_model(1), states = copy_of_model(1);
    one_step("Optimizer.step#SGD.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(average, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(masters_may_have_gradients)
{
    uint64_t weights = copy_of_model(1), masters = copy_of_model(2), gradients = copy_of_model(2),
             states = copy_of_model(2);
    copy_of_model(2);
    one_step("Optimizer.step#Adam.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(gradients, LAYERS, CATEGORY_GRADIENT);
    expect_all(states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The gradients are gone when the optimizer steps, so there are others; the rest is an average. */
START_TEST(masters_may_have_gradients_and_an_average)
{
    uint64_t weights = copy_of_model(1), masters = copy_of_model(2), gradients = copy_of_model(2),
             average = copy_of_model(2), states = copy_of_model(2);
    copy_of_model(2);
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&capture, 2000 + i, SIZE + 100 * i, SCRIPT);
    capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(gradients, LAYERS, CATEGORY_GRADIENT);
    expect_all(average, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A wider model has weights of twice the size, and others of four times the size. */
START_TEST(a_model_twice_as_wide_is_no_master)
{
    uint64_t weights = copy_of_model(1), other = next;
    for (unsigned i = 0; i < 2 * LAYERS; i++)
        block((SIZE + 100 * (i / 2)) * (i / 2 == 0 ? 4 : 2));
    one_step("Optimizer.step#SGD.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(other, 2 * LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* cuDNN keeps the weights of an LSTM in one block, Adam a state for each of them. */
START_TEST(states_of_flat_weights_add_up)
{
    uint64_t weights = copy_of_model(1), flat;
    for (unsigned i = 2; i < 2 * LAYERS; i++) /* none of the size of the first layer */
        block(SIZE + 100 * (i / 2));
    flat = next;
    for (unsigned i = 0; i < 2; i++) {
        block(3000);
        block(1000);
    }
    one_step("Optimizer.step#Adam.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(flat, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A pass whose gradients are added to views of a flat buffer, as AccumulateGrad does. */
static void step_with_flat_gradients(void)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 2000, SIZE + 100 * i, STACK_BACKWARD);
        capture_free(&capture, 2000, SIZE + 100 * i, ACCUMULATE);
    }
    capture_free(&capture, 1000, 50, ENGINE);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
}

START_TEST(flat_buffers_hold_weights_gradients_and_states)
{
    for (unsigned i = 0; i < 4; i++)
        block(FLAT);
    step_with_flat_gradients();
    capture_load(&capture);
    expect_all(1, 1, CATEGORY_PARAMETER);
    expect_all(2, 1, CATEGORY_GRADIENT);
    expect_all(3, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(flat_masters_may_have_gradients)
{
    block(FLAT);
    block(FLAT);
    for (unsigned i = 0; i < 4; i++)
        block(2 * FLAT);
    step_with_flat_gradients();
    capture_load(&capture);
    expect_all(1, 1, CATEGORY_PARAMETER);
    expect_all(2, 1, CATEGORY_GRADIENT);
    expect_all(3, 1, CATEGORY_OPTIMIZER_STATE);
    expect_all(4, 1, CATEGORY_GRADIENT);
    expect_all(5, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

#define ZEROS CPP("at::_ops::zeros::call(x)") "," PY("wrap", "/home/u/buffers.py", 4) "," SCRIPT
#define FLOAT                                                                                      \
    CPP("at::_ops::_to_copy::call(x)") "," PY("masters", "/home/u/buffers.py", 9) "," SCRIPT

/* As Megatron does, before it makes the optimizer. */
START_TEST(flat_gradients_may_be_made_before_masters)
{
    block(FLAT);
    block(FLAT);
    capture_event(&capture, "alloc", 3, 2 * FLAT, ZEROS);
    capture_event(&capture, "alloc", 4, 2 * FLAT, FLOAT);
    block(2 * FLAT);
    block(2 * FLAT);
    step_with_flat_gradients();
    capture_load(&capture);
    expect_all(3, 1, CATEGORY_GRADIENT);
    expect_all(4, 1, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* As a distributed optimizer does: half of the masters is as large as all weights. */
START_TEST(flat_states_tell_the_width_of_masters)
{
    for (unsigned i = 0; i < 4; i++)
        block(FLAT);
    block(2 * FLAT);
    step_with_flat_gradients();
    capture_load(&capture);
    expect_all(1, 1, CATEGORY_PARAMETER);
    expect_all(2, 3, CATEGORY_OPTIMIZER_STATE);
    expect_all(5, 1, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(gradients_alone_may_be_flat)
{
    uint64_t weights = copy_of_model(1), masters = copy_of_model(2), flat = next;
    block(2 * FLAT);
    step_with_flat_gradients();
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(masters, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(flat, 1, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_model_without_gaps_has_no_flat_buffers)
{
    uint64_t weights = copy_of_model(1), other = next;
    block(FLAT);
    one_step("Optimizer.step#SGD.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(other, 1, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(large_blocks_without_gradients_are_data)
{
    uint64_t weights = copy_of_model(1), data = next;
    block(1000000);
    block(500000);
    block(96); /* a buffer */
    one_step(NULL);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(data, 2, CATEGORY_INPUT);
}
END_TEST

/* Two wide layers hold most of a teacher's bytes; each layer has a bias, too. */
START_TEST(large_blocks_beside_many_small_ones_are_a_frozen_model)
{
    copy_of_model(1);
    uint64_t frozen = next;
    block(1000000);
    block(500000);
    for (unsigned i = 0; i < 12; i++)
        block(96 + 32 * (i / 2));
    one_step(NULL);
    capture_load(&capture);
    expect_all(frozen, 14, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(large_blocks_may_be_tables_with_sparse_gradients)
{
    copy_of_model(1);
    uint64_t tables = next;
    block(1000000);
    block(500000);
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_event(&capture, "alloc", 3000, 300,
                  CPP("at::_ops::index_select::call(x)") "," CPP(
                      "torch::autograd::generated::EmbeddingBagBackward0::apply(x)") "," ENGINE);
    capture_free(&capture, 1000, 50, ENGINE);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    capture_load(&capture);
    expect_all(tables, 2, CATEGORY_PARAMETER);
}
END_TEST

/* On Hopper, cuBLAS's workspace is as large as a weight of 4096 x 4096 in 2 bytes. */
START_TEST(a_large_workspace_is_no_data)
{
    copy_of_model(1);
    uint64_t workspace = next;
    block(32u << 20);
    one_step(NULL);
    capture_load(&capture);
    expect_all(workspace, 1, CATEGORY_WORKSPACE);
}
END_TEST

START_TEST(many_blocks_of_its_size_are_no_workspaces)
{
    copy_of_model(1);
    uint64_t frozen = next;
    for (unsigned i = 0; i < 8; i++)
        block(32u << 20);
    one_step(NULL);
    capture_load(&capture);
    expect_all(frozen, 8, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(a_smaller_frozen_model_is_a_model)
{
    uint64_t weights = copy_of_model(1), frozen = next;
    block(3000);
    block(2000);
    one_step(NULL);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(frozen, 2, CATEGORY_PARAMETER);
}
END_TEST

/* Two models with weights of the same sizes, whose gradients two passes make. */
START_TEST(passes_of_two_models_count_together)
{
    uint64_t weights = copy_of_model(1), states;
    copy_of_model(1);
    states = copy_of_model(1);
    for (unsigned i = 0; i < 3; i++)
        copy_of_model(1);
    for (unsigned pass = 0; pass < 2; pass++) {
        capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&capture, "alloc", 2000 + 100 * pass + i, SIZE + 100 * i, STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
        capture_free(&capture, 1001, 50, STACK_STEP);
    }
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 2000 + 100 * pass + i, SIZE + 100 * i, SCRIPT);
    capture_load(&capture);
    expect_all(weights, 2 * LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 4 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(sparse_gradients_have_other_sizes)
{
    uint64_t weights = next;
    block(9000);
    block(9000);
    for (unsigned i = 0; i < 4; i++)
        block(9000);
    one_step("Optimizer.step#SparseAdam.step");
    capture_load(&capture);
    expect_all(weights, 2, CATEGORY_PARAMETER);
    expect_all(weights + 2, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The weights of most bytes lie in one block each, and vote for no state. */
START_TEST(most_weights_may_have_states_in_parts)
{
    uint64_t weights = copy_of_model(1), states = next, average;
    for (unsigned copy = 0; copy < 2; copy++) {
        block(SIZE + 100 * (LAYERS - 1));
        for (unsigned i = 0; i + 1 < LAYERS; i++) {
            block(3000);
            block(1000 + 100 * i);
        }
    }
    average = next++; /* not there at the end */
    for (unsigned step = 0; step < 2; step++)
        one_step("Optimizer.step#Adam.step");
    capture_free(&capture, average, 3000, SCRIPT);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 2 * (2 * LAYERS - 1), CATEGORY_OPTIMIZER_STATE);
    expect_all(average, 1, CATEGORY_PARAMETER);
}
END_TEST

/* An average of a part of the model: where it has no copy, one state is left for each weight. */
START_TEST(an_unknown_optimizer_keeps_what_all_sizes_allow)
{
    uint64_t weights = copy_of_model(1), average = next;
    for (unsigned i = 1; i < LAYERS; i++)
        block(SIZE + 100 * i);
    uint64_t states = copy_of_model(1);
    one_step("Optimizer.step#LARS.step");
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(average, LAYERS - 1, CATEGORY_PARAMETER);
    expect_all(states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* The step makes every state anew: those from before the trace were states as well. */
START_TEST(steps_may_replace_states)
{
    uint64_t weights = copy_of_model(1), kept = copy_of_model(1), states = copy_of_model(1);
    one_step("Optimizer.step#Adam.step");
    for (unsigned step = 0; step < 2; step++) {
        capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++) {
            capture_event(&capture, "alloc", 3000 + 100 * step + i, SIZE + 100 * i, STACK_STEP);
            capture_free(&capture, (step ? 3000 : states) + i, SIZE + 100 * i, STACK_STEP);
        }
    }
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(kept, LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* One table is twice as large as the other, and neither has a gradient of its size. */
START_TEST(sparse_tables_are_no_masters)
{
    uint64_t weights = next;
    block(200000);
    block(400000);
    uint64_t states = next;
    for (unsigned i = 0; i < 4; i++)
        block(i < 2 ? 200000 : 400000);
    for (unsigned i = 0; i < 3; i++)
        copy_of_model(1);
    one_step("Optimizer.step#SparseAdam.step");
    capture_load(&capture);
    expect_all(weights, 2, CATEGORY_PARAMETER);
    expect_all(states, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A step of a model with a weight of 20 x 30 elements of 4 bytes, and one of 30 x 30. */
static void step_of_matrices(const char *optimizer)
{
    static const uint64_t sizes[] = {20 * 30 * 4, 30 * 30 * 4};
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < 2; i++)
        capture_event(&capture, "alloc", 2000 + i, sizes[i], STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    if (optimizer)
        capture_annotate(&capture, "START", optimizer, 0);
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    if (optimizer)
        capture_annotate(&capture, "END", optimizer, 0);
    for (unsigned i = 0; i < 2; i++)
        capture_free(&capture, 2000 + i, sizes[i], SCRIPT);
}

/* Two factors for each weight, and two moments: of the size of the second weight are seven. */
static uint64_t factors_of_matrices(void)
{
    uint64_t first = next + 2;
    for (unsigned copy = 0; copy < 3; copy++) {
        block(20 * 30 * 4);
        block(30 * 30 * 4);
    }
    block(20 * 20 * 4);
    for (unsigned i = 0; i < 3; i++)
        block(30 * 30 * 4);
    return first;
}

START_TEST(products_of_sizes_show_kronecker_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices("Optimizer.step#SOAP.step");
    capture_load(&capture);
    expect_all(1, 2, CATEGORY_PARAMETER);
    expect_all(states, 8, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(an_optimizer_without_annotations_may_keep_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices(NULL);
    capture_load(&capture);
    expect_all(states, 8, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Weights of 20 x 30 and 30 x 30 elements, a table of 20 x 65, and one state of each. The first
 * weight has `factors` blocks of 20 x 20 and as many of 30 x 30; the table is too large to have
 * any. */
static uint64_t factors_beside_a_table(unsigned factors)
{
    static const uint64_t weights[] = {20 * 30 * 4, 30 * 30 * 4, 20 * 65 * 4};
    for (unsigned i = 0; i < 6; i++)
        block(weights[i % 3]);
    uint64_t first = next;
    for (unsigned i = 0; i < factors; i++) {
        block(20 * 20 * 4);
        block(30 * 30 * 4);
    }
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < 3; i++)
        capture_event(&capture, "alloc", 2000 + i, weights[i], STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    for (unsigned i = 0; i < 3; i++)
        capture_free(&capture, 2000 + i, weights[i], SCRIPT);
    return first;
}

START_TEST(large_tables_have_no_factors)
{
    uint64_t factors = factors_beside_a_table(1);
    capture_load(&capture);
    expect_all(factors, 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(each_weight_has_its_own_factors)
{
    uint64_t factors = factors_beside_a_table(2);
    capture_load(&capture);
    expect_all(factors, 1, CATEGORY_PARAMETER);
    expect_all(factors + 2, 1, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(optimizers_of_torch_keep_no_factors)
{
    uint64_t states = factors_of_matrices();
    step_of_matrices("Optimizer.step#Adam.step");
    capture_load(&capture);
    expect_all(states + 4, 1, CATEGORY_PARAMETER);
}
END_TEST

/* Plain code makes a tensor of the size of each weight between two steps. */
static void list_between_steps(bool in_order, unsigned count)
{
    copy_of_model(1);
    one_step("Optimizer.step#SGD.step");
    for (unsigned i = 0; i < count; i++)
        capture_event(&capture, "alloc", 3000 + i, SIZE + 100 * (in_order ? i : LAYERS - 1 - i),
                      SCRIPT);
    one_step("Optimizer.step#SGD.step");
    for (unsigned i = 0; i < count; i++)
        capture_free(&capture, 3000 + i, SIZE + 100 * (in_order ? i : LAYERS - 1 - i), SCRIPT);
    one_step("Optimizer.step#SGD.step");
    capture_load(&capture);
}

/* one_step() makes gradients in ascending order of size. */
START_TEST(a_list_in_the_order_of_gradients_holds_gradients)
{
    list_between_steps(true, LAYERS);
    expect_all(3000, LAYERS, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_list_in_the_order_of_the_model_is_a_copy)
{
    list_between_steps(false, LAYERS);
    expect_all(3000, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(a_batch_is_no_list_of_weights)
{
    list_between_steps(false, LAYERS - 1);
    expect_all(3000, LAYERS - 1, CATEGORY_INPUT);
}
END_TEST

/* A copy of the model, and batches that happen to be as large as its weights. */
START_TEST(batches_as_large_as_weights_tell_no_order)
{
    copy_of_model(1);
    one_step("Optimizer.step#SGD.step");
    for (unsigned i = 0; i < 3 * LAYERS; i++) {
        unsigned layer = i < LAYERS ? LAYERS - 1 - i : i % LAYERS;
        capture_event(&capture, "alloc", 3000 + i, SIZE + 100 * layer, SCRIPT);
    }
    one_step("Optimizer.step#SGD.step");
    for (unsigned i = 0; i < 3 * LAYERS; i++) {
        unsigned layer = i < LAYERS ? LAYERS - 1 - i : i % LAYERS;
        capture_free(&capture, 3000 + i, SIZE + 100 * layer, SCRIPT);
    }
    one_step("Optimizer.step#SGD.step");
    capture_load(&capture);
    expect_all(3000, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* As in momentum contrast: the forward pass writes a model anew. */
START_TEST(a_forward_may_replace_weights)
{
    capture_event(&capture, "alloc", 1, 700,
                  PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT);
    for (unsigned step = 0; step < 2; step++) {
        capture_event(&capture, "alloc", 2 + step, 700, STACK_FORWARD);
        capture_free(&capture, 1 + step, 700, STACK_FORWARD);
        capture_event(&capture, "alloc", 10, 50, STACK_FORWARD);
        capture_event(&capture, "alloc", 20 + step, 60, STACK_BACKWARD);
        capture_free(&capture, 10, 50, ENGINE);
    }
    capture_load(&capture);
    expect_all(1, 3, CATEGORY_PARAMETER);
    expect_all(10, 1, CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_roles_tests(void)
{
    TCase *tests = tcase_create("roles of what stays");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, one_copy_more_than_adam_needs_is_a_model);
    tcase_add_test(tests, sgd_keeps_one_state);
    tcase_add_test(tests, masters_may_have_gradients);
    tcase_add_test(tests, masters_may_have_gradients_and_an_average);
    tcase_add_test(tests, a_model_twice_as_wide_is_no_master);
    tcase_add_test(tests, states_of_flat_weights_add_up);
    tcase_add_test(tests, flat_buffers_hold_weights_gradients_and_states);
    tcase_add_test(tests, flat_masters_may_have_gradients);
    tcase_add_test(tests, flat_gradients_may_be_made_before_masters);
    tcase_add_test(tests, flat_states_tell_the_width_of_masters);
    tcase_add_test(tests, gradients_alone_may_be_flat);
    tcase_add_test(tests, a_model_without_gaps_has_no_flat_buffers);
    tcase_add_test(tests, large_blocks_without_gradients_are_data);
    tcase_add_test(tests, large_blocks_beside_many_small_ones_are_a_frozen_model);
    tcase_add_test(tests, large_blocks_may_be_tables_with_sparse_gradients);
    tcase_add_test(tests, a_large_workspace_is_no_data);
    tcase_add_test(tests, many_blocks_of_its_size_are_no_workspaces);
    tcase_add_test(tests, a_smaller_frozen_model_is_a_model);
    tcase_add_test(tests, passes_of_two_models_count_together);
    tcase_add_test(tests, sparse_gradients_have_other_sizes);
    tcase_add_test(tests, most_weights_may_have_states_in_parts);
    tcase_add_test(tests, an_unknown_optimizer_keeps_what_all_sizes_allow);
    tcase_add_test(tests, steps_may_replace_states);
    tcase_add_test(tests, sparse_tables_are_no_masters);
    tcase_add_test(tests, products_of_sizes_show_kronecker_factors);
    tcase_add_test(tests, an_optimizer_without_annotations_may_keep_factors);
    tcase_add_test(tests, large_tables_have_no_factors);
    tcase_add_test(tests, each_weight_has_its_own_factors);
    tcase_add_test(tests, optimizers_of_torch_keep_no_factors);
    tcase_add_test(tests, a_list_in_the_order_of_gradients_holds_gradients);
    tcase_add_test(tests, a_list_in_the_order_of_the_model_is_a_copy);
    tcase_add_test(tests, a_batch_is_no_list_of_weights);
    tcase_add_test(tests, batches_as_large_as_weights_tell_no_order);
    tcase_add_test(tests, a_forward_may_replace_weights);
    return tests;
}
