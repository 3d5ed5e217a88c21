/* The roles of blocks from before the trace, where the trace shows more than plain steps. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define ACCUMULATE CPP("torch::autograd::AccumulateGrad::apply(x)") "," ENGINE
#define HOOK       PY("hook", "/home/u/train.py", 5) "," ACCUMULATE
#define MODEL      PY("convert", TORCH "nn/modules/module.py", 1355) "," SCRIPT

#define LAYERS 4u
#define SIZE   4000u /* of the first layer; no size is twice another */

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

static uint64_t size_of(unsigned layer)
{
    return SIZE + 100 * layer;
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

/* A copy of the model from before the trace; its first address. */
static uint64_t copy_of_model(void)
{
    uint64_t first = next;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, next++, size_of(i), "");
    return first;
}

static void adam_step(uint64_t states)
{
    capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
    for (unsigned i = 0; i < LAYERS && states > 0; i++) {
        capture_event(&capture, "alloc", states + i, size_of(i), STACK_STEP);
        capture_event(&capture, "alloc", states + LAYERS + i, size_of(i), STACK_STEP);
    }
    capture_event(&capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&capture, 1001, 50, STACK_STEP);
    capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
}

/* A forward pass, and `passes` backward passes that leave a gradient for each layer. */
static void compute(unsigned passes)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned pass = 0; pass < passes; pass++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&capture, "alloc", 2000 + 100 * pass + i, size_of(i), STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
}

static void drop_gradients(unsigned passes)
{
    for (unsigned pass = 0; pass < passes; pass++)
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 2000 + 100 * pass + i, size_of(i), SCRIPT);
}

/* The program keeps the gradients of several losses, while Adam still has two states for each
 * weight. */
START_TEST(gradients_of_several_losses_are_of_one_model)
{
    uint64_t weights = copy_of_model(), states = copy_of_model();
    copy_of_model();
    compute(2);
    adam_step(0);
    drop_gradients(2);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* cuDNN keeps the weights of an LSTM in one block, here that of the last layer. */
START_TEST(a_state_of_a_flat_weight_may_be_as_large_as_another_weight)
{
    copy_of_model();
    uint64_t states = next;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned layer = 0; layer + 1 < LAYERS; layer++)
            capture_block(&capture, next++, size_of(layer), "");
        capture_block(&capture, next++, size_of(0), "");
        capture_block(&capture, next++, size_of(LAYERS - 1) - size_of(0), "");
    }
    compute(1);
    adam_step(0);
    drop_gradients(1);
    capture_load(&capture);
    expect_all(states, 2 * LAYERS + 2, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* A sweep or a notebook: the trace makes another model, whose optimizer makes its own states. */
START_TEST(a_model_from_before_the_trace_keeps_its_states)
{
    uint64_t weights = copy_of_model(), states = copy_of_model();
    copy_of_model();
    compute(1);
    adam_step(0);
    drop_gradients(1);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 3000 + i, size_of(i), MODEL);
    compute(1);
    adam_step(4000);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
    expect_all(3000, LAYERS, CATEGORY_PARAMETER);
    expect_all(4000, 2 * LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

static void pass_with_hooks(uint64_t states)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 2000, size_of(i), STACK_BACKWARD);
        if (states > 0)
            capture_event(&capture, "alloc", states + i, size_of(i),
                          CPP("at::_ops::zeros_like::call(x)") "," HOOK);
        capture_free(&capture, 2000, size_of(i), HOOK);
    }
    capture_free(&capture, 1000, 50, ENGINE);
}

/* Each hook updates its weight and drops the gradient: no gradient stays. */
START_TEST(hooks_may_drop_gradients)
{
    uint64_t weights = copy_of_model(), states = copy_of_model();
    pass_with_hooks(0);
    pass_with_hooks(0);
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(states, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(hooks_may_make_states)
{
    copy_of_model();
    pass_with_hooks(3000);
    pass_with_hooks(0);
    pass_with_hooks(0);
    capture_load(&capture);
    expect_all(3000, LAYERS, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

/* Blocks from before the trace have a size of which each step keeps another block, so the leak
 * began before the trace. */
START_TEST(a_leak_may_have_begun_before_the_trace)
{
    uint64_t weights = copy_of_model(), leaked = next;
    for (unsigned i = 0; i < 3; i++)
        capture_block(&capture, next++, 7777, "");
    capture_block(&capture, next++, 8888, ""); /* a frozen weight */
    for (unsigned pass = 0; pass < 3; pass++) {
        capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
        capture_event(&capture, "alloc", 1100 + pass, 7777, STACK_FORWARD);
        for (unsigned i = LAYERS; i-- > 0;)
            capture_event(&capture, "alloc", 2000 + i, size_of(i), STACK_BACKWARD);
        capture_free(&capture, 1000, 50, ENGINE);
        adam_step(0);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 2000 + i, size_of(i), SCRIPT);
    }
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(leaked, 3, CATEGORY_ACTIVATION);
    expect_all(leaked + 3, 1, CATEGORY_PARAMETER);
}
END_TEST

/* Autograd's thread runs no Python: it allocates without a stack, and frees blocks from before. */
START_TEST(a_recording_may_begin_in_a_backward_pass)
{
    uint64_t weights = copy_of_model();
    for (unsigned i = 0; i < LAYERS; i++) {
        capture_event(&capture, "alloc", 2000 + i, size_of(i), "");
        capture_free(&capture, 3000 + i, 7000 + 100 * i, "");
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, 2000 + i, size_of(i), SCRIPT);
        capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_event(&capture, "alloc", 2000 + i, size_of(i), "");
        capture_free(&capture, 1000, 50, "");
        capture_event(&capture, "alloc", 1001, 60, STACK_STEP);
        capture_free(&capture, 1001, 60, STACK_STEP);
    }
    capture_load(&capture);
    expect_all(weights, LAYERS, CATEGORY_PARAMETER);
    expect_all(3000, LAYERS, CATEGORY_ACTIVATION);
}
END_TEST

/* A pass and a step of a model with two tables; `rows`: the gradient of a
 * table has only the rows that the batch reads. */
static void read_tables(bool rows)
{
    capture_event(&capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&capture, "alloc", 2000 + i, size_of(i), STACK_BACKWARD);
    for (unsigned i = 0; rows && i < 2; i++)
        capture_event(&capture, "alloc", 2100 + i, 66000 + 100 * i, STACK_BACKWARD);
    capture_free(&capture, 1000, 50, ENGINE);
    adam_step(0);
    drop_gradients(1);
    for (unsigned i = 0; rows && i < 2; i++)
        capture_free(&capture, 2100 + i, 66000 + 100 * i, SCRIPT);
}

START_TEST(gradients_of_rows_tell_tables_from_data)
{
    bool rows = _i > 0;
    copy_of_model();
    for (unsigned i = 0; i < 2; i++)
        capture_block(&capture, next++, 9000000 + 5000 * i, "");
    for (unsigned pass = 0; pass < 3; pass++) {
        capture_event(&capture, "alloc", 900, 70, STACK_FORWARD);
        capture_free(&capture, 900, 70, STACK_FORWARD);
        read_tables(rows);
    }
    capture_load(&capture);
    expect_all(next - 2, 2, rows ? CATEGORY_PARAMETER : CATEGORY_INPUT);
}
END_TEST

START_TEST(tables_may_have_states)
{
    copy_of_model();
    uint64_t tables = next;
    for (unsigned i = 0; i < 6; i++)
        capture_block(&capture, next++, 9000000 + 5000 * (i % 2), "");
    for (unsigned pass = 0; pass < 3; pass++) {
        capture_event(&capture, "alloc", 900, 70, STACK_FORWARD);
        capture_free(&capture, 900, 70, STACK_FORWARD);
        read_tables(true);
    }
    capture_load(&capture);
    expect_all(tables, 2, CATEGORY_PARAMETER);
    expect_all(tables + 2, 4, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_late_tests(void)
{
    TCase *tests = tcase_create("roles in late recordings");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, gradients_of_several_losses_are_of_one_model);
    tcase_add_test(tests, a_state_of_a_flat_weight_may_be_as_large_as_another_weight);
    tcase_add_test(tests, a_model_from_before_the_trace_keeps_its_states);
    tcase_add_test(tests, hooks_may_drop_gradients);
    tcase_add_test(tests, hooks_may_make_states);
    tcase_add_test(tests, a_leak_may_have_begun_before_the_trace);
    tcase_add_test(tests, a_recording_may_begin_in_a_backward_pass);
    tcase_add_loop_test(tests, gradients_of_rows_tell_tables_from_data, 0, 2);
    tcase_add_test(tests, tables_may_have_states);
    return tests;
}
