/* The memory of code that a plan for the chain does not change. */
#include <stdio.h>

#include "unit/analysis/chain/pass.h"

#define BLOCK 512 /* the unit of PyTorch's blocks */

static void train(void)
{
    for (int i = 0; i < 4; i++)
        block("t9 m53", 8);
    backward(3);
}

static void expect_found(const struct chain_elsewhere *found, uint64_t blocks, const char *at)
{
    ck_assert_uint_eq(found->bytes, blocks * BLOCK);
    if (blocks > 0)
        ck_assert_str_eq(found->at.bytes, at);
}

static void expect_elsewhere(uint64_t blocks, const char *at)
{
    build();
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    expect_found(&chain.elsewhere, blocks, at);
    expect_found(&chain.unused, 0, "");
}

START_TEST(an_evaluation_may_need_more)
{
    train();
    pass_by(2 * BLOCK, "t20 m53 b10");
    char frames[1024];
    snprintf(frames, sizeof(frames), "%s,%s", frames_of("m55"),
             PY("evaluate", "/home/u/train.py", 20));
    capture_event(&capture, "alloc", next, 9 * BLOCK, frames);
    capture_free(&capture, next++, 9 * BLOCK, "");
    pass_by(3 * BLOCK, "t20 m56");
    train();
    expect_elsewhere(9, "train.py:20 evaluate");
}
END_TEST

START_TEST(code_before_the_model_may_need_more)
{
    pass_by(7 * BLOCK, "t3");
    train();
    expect_elsewhere(7, "train.py:3 <module>");
}
END_TEST

START_TEST(passes_with_a_backward_pass_are_not_elsewhere)
{
    train();
    train();
    expect_elsewhere(0, "");
}
END_TEST

/* The pass keeps activations, which checkpoints would change. In the second case, a backward pass
 * follows it that frees nothing, as with retain_graph=True. */
START_TEST(a_pass_that_is_not_planned_is_another_matter)
{
    train();
    for (int i = 0; i < 4; i++)
        block("t20 m53", 8);
    pass_by(9 * BLOCK, "t20 m55");
    if (_i == 1) {
        capture_free(&capture, capture_alloc(&capture, 8, STACK_BACKWARD), 8, STACK_BACKWARD);
        pass_by(8, "t3");
    }
    while (kept-- > 0)
        capture_free(&capture, addresses[kept], sizes[kept], "");
    kept = 0;
    train();
    build();
    expect_found(&chain.elsewhere, 0, "");
    expect_found(&chain.unused, 12 + 9, "model.py:55 forward");
    ck_assert(chain.unused.has_backward == (_i == 1));
}
END_TEST

START_TEST(a_pass_that_runs_out_of_memory_tells_nothing)
{
    train();
    keep(9 * BLOCK, "t9 m53 b10");
    capture_event(&capture, "oom", 0, 64 * BLOCK, frames_of("t9 m53 b11"));
    expect_elsewhere(0, "");
}
END_TEST

TCase *elsewhere_tests(void)
{
    TCase *tests = tcase_create("elsewhere");
    tcase_add_checked_fixture(tests, pass_create, pass_destroy);
    tcase_add_test(tests, an_evaluation_may_need_more);
    tcase_add_test(tests, code_before_the_model_may_need_more);
    tcase_add_test(tests, passes_with_a_backward_pass_are_not_elsewhere);
    tcase_add_loop_test(tests, a_pass_that_is_not_planned_is_another_matter, 0, 2);
    tcase_add_test(tests, a_pass_that_runs_out_of_memory_tells_nothing);
    return tests;
}
