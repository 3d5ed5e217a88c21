/* Results that local variables of a function hold until it returns. */
#include "analysis/findings/findings.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_capture.h"

#define HELD    100
#define SAVED   60
#define SCRATCH 80
#define OUTSIDE CALL "," PY("forward", "/home/u/model.py", 90) "," CALL "," SCRIPT
#define LINE(n) CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", n) "," OUTSIDE

/* Lines of a module make a tensor, read it, and have the peak; it is freed with the stack `freed`.
 */
struct module {
    unsigned reads, peaks;
    const char *freed;
    bool makes_again, in_backward;
    uint64_t peak_size; /* 0: that of scratch space */
};

static void train(struct module module)
{
    static const char *const lines[] = {LINE(10), LINE(11), LINE(12), LINE(13)};
    uint64_t held = capture_alloc(&capture, HELD, lines[0]);
    uint64_t saved = capture_alloc(&capture, SAVED, lines[module.reads]);
    uint64_t size = module.peak_size > 0 ? module.peak_size : SCRATCH;
    uint64_t scratch = capture_alloc(&capture, size, lines[module.peaks]);
    capture_free(&capture, scratch, size, lines[module.peaks]);
    uint64_t again = module.makes_again ? capture_alloc(&capture, HELD / 2, lines[0]) : 0;
    if (again)
        capture_free(&capture, again, HELD / 2, lines[0]);
    if (!module.in_backward)
        capture_free(&capture, held, HELD, module.freed);
    uint64_t gradient = capture_alloc(&capture, 10, STACK_BACKWARD);
    if (module.in_backward)
        capture_free(&capture, held, HELD, module.freed);
    capture_free(&capture, saved, SAVED, STACK_BACKWARD);
    uint64_t state = capture_alloc(&capture, 5, STACK_STEP);
    capture_free(&capture, state, 5, STACK_STEP);
    capture_free(&capture, gradient, 10, STACK_STEP);
}

static int64_t saving(struct module module)
{
    train(module);
    train(module);
    return capture_saving(&capture, FINDING_LOCAL_RESULTS);
}

/* Without it, the peak is where the line that reads it ends. */
START_TEST(held_until_the_function_returns)
{
    ck_assert_int_eq(saving((struct module){1, 2, OUTSIDE, false, false, 0}), SCRATCH);
}
END_TEST

START_TEST(held_while_it_may_be_read)
{
    ck_assert_int_eq(saving((struct module){1, 1, OUTSIDE, false, false, 0}), -1);
}
END_TEST

/* As masked_fill() does. */
START_TEST(held_for_a_result_of_its_size)
{
    struct module module = {1, 2, OUTSIDE, false, false, HELD};
    ck_assert_int_eq(saving(module), -1);
}
END_TEST

START_TEST(held_for_a_result_of_another_size)
{
    struct module module = {1, 2, OUTSIDE, false, false, HELD - 1};
    ck_assert_int_eq(saving(module), HELD - 1);
}
END_TEST

/* The frame that is running frees what it replaces, and its caller's caller what that holds. */
START_TEST(freed_by_other_frames)
{
    static const char *const freed[] = {LINE(13),
                                        PY("forward", "/home/u/model.py", 90) "," CALL "," SCRIPT};
    ck_assert_int_eq(saving((struct module){1, 2, freed[_i], false, false, 0}), -1);
}
END_TEST

START_TEST(made_again_in_a_loop)
{
    ck_assert_int_eq(saving((struct module){1, 2, OUTSIDE, true, false, 0}), -1);
}
END_TEST

START_TEST(needed_by_the_backward_pass)
{
    ck_assert_int_eq(saving((struct module){1, 2, STACK_BACKWARD, false, true, 0}), -1);
}
END_TEST

TCase *findings_locals_tests(void)
{
    TCase *tests = tcase_create("findings_locals");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, held_until_the_function_returns);
    tcase_add_test(tests, held_while_it_may_be_read);
    tcase_add_test(tests, held_for_a_result_of_its_size);
    tcase_add_test(tests, held_for_a_result_of_another_size);
    tcase_add_loop_test(tests, freed_by_other_frames, 0, 2);
    tcase_add_test(tests, made_again_in_a_loop);
    tcase_add_test(tests, needed_by_the_backward_pass);
    return tests;
}
