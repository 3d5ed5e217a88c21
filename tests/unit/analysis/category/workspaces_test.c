/* Workspaces of cuBLAS that stay, in traces without C++ frames. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/layer_passes.h"

#define HOPPER      33554432
#define MODEL       PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define WORKSPACES  900 /* that of the forward pass, then that of the backward pass */
#define OF_BACKWARD (WORKSPACES + 1)

/* The first matrix product of each pass makes a workspace right after its result. */
static void first_step(const char *forward)
{
    parameters_before();
    born(100, ACTIVATION, forward);
    born(WORKSPACES, HOPPER, forward);
    for (unsigned i = 1; i < LAYERS; i++)
        born(100 + i, ACTIVATION + i, forward);
    born(200 + LAYERS, ACTIVATION, "");
    born(OF_BACKWARD, HOPPER, "");
    for (unsigned i = LAYERS; i-- > 0;) {
        born(300 + i, PARAMETER + i, "");
        born(200 + i, ACTIVATION + i, "");
        freed(201 + i, ACTIVATION, "");
        freed(100 + i, ACTIVATION + i, "");
    }
    freed(200, ACTIVATION, "");
}

static void next_step(const char *forward)
{
    for (unsigned i = 0; i < LAYERS; i++)
        freed(300 + i, PARAMETER + i, "");
    one_step(forward, "");
}

static void expect_workspaces(bool are_expected)
{
    for (uint64_t addr = WORKSPACES; addr <= OF_BACKWARD; addr++)
        ck_assert_int_eq(capture_category(&capture, addr) == CATEGORY_WORKSPACE, are_expected);
}

START_TEST(passes_leave_workspaces)
{
    const char *forward = _i == 0 ? MODEL : "";
    first_step(forward);
    next_step(forward);
    next_step(forward);
    capture_load(&capture);
    expect_workspaces(true);
}
END_TEST

/* Without stacks, what a program computes before its first pass may look like a backward pass. */
START_TEST(two_workspaces_of_what_looks_like_a_backward_pass)
{
    parameters_before();
    forward_pass("");
    born(200 + LAYERS, ACTIVATION, "");
    born(WORKSPACES, HOPPER, "");
    for (unsigned i = LAYERS; i-- > 0;) {
        born(300 + i, PARAMETER + i, "");
        born(200 + i, ACTIVATION + i, "");
        if (i == 0)
            born(OF_BACKWARD, HOPPER, "");
        freed(201 + i, ACTIVATION, "");
        freed(100 + i, ACTIVATION + i, "");
    }
    freed(200, ACTIVATION, "");
    next_step("");
    next_step("");
    capture_load(&capture);
    expect_workspaces(true);
}
END_TEST

/* That of the backward pass may be the gradient of a weight of the size. */
START_TEST(a_weight_may_be_as_large)
{
    capture_block(&capture, 50, HOPPER, "");
    first_step(MODEL);
    next_step(MODEL);
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, WORKSPACES), CATEGORY_WORKSPACE);
    ck_assert_int_ne(capture_category(&capture, OF_BACKWARD), CATEGORY_WORKSPACE);
}
END_TEST

START_TEST(what_every_pass_keeps_is_no_workspace)
{
    first_step(MODEL);
    next_step(MODEL);
    born(700, HOPPER, MODEL);
    next_step(MODEL);
    capture_load(&capture);
    expect_workspaces(false);
}
END_TEST

#define BANK  PY("__init__", "/home/u/bank.py", 13) "," SCRIPT
#define ZEROS CPP("at::_ops::zeros::call(c10::ArrayRef<c10::SymInt>)") "," BANK

/* A buffer of plain code may be as large: made in the trace, by an operator or by a line, or
 * before it. */
START_TEST(a_buffer_is_no_workspace)
{
    const char *line = _i == 0 ? ZEROS : BANK;
    bool is_older = _i == 2;
    parameters_before();
    if (is_older)
        capture_block(&capture, 50, HOPPER, line);
    else
        born(50, HOPPER, line);
    born(51, 700, line);
    forward_pass(MODEL);
    backward_pass("");
    for (int i = 0; i < 2; i++)
        next_step(MODEL);
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 50), CATEGORY_WORKSPACE);
    ck_assert_int_ne(capture_category(&capture, 50), CATEGORY_UNKNOWN);
}
END_TEST

/* Plain code may multiply before the model does. */
START_TEST(a_product_of_plain_code_leaves_a_workspace)
{
    parameters_before();
    born(51, 700, BANK);
    born(50, HOPPER, BANK);
    freed(51, 700, BANK);
    forward_pass(MODEL);
    backward_pass("");
    next_step(MODEL);
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 50), CATEGORY_WORKSPACE);
}
END_TEST

TCase *category_workspaces_tests(void)
{
    TCase *tests = tcase_create("workspaces that stay");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, passes_leave_workspaces, 0, 2);
    tcase_add_test(tests, two_workspaces_of_what_looks_like_a_backward_pass);
    tcase_add_test(tests, a_weight_may_be_as_large);
    tcase_add_test(tests, what_every_pass_keeps_is_no_workspace);
    tcase_add_loop_test(tests, a_buffer_is_no_workspace, 0, 3);
    tcase_add_test(tests, a_product_of_plain_code_leaves_a_workspace);
    return tests;
}
