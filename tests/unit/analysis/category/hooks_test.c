/* Python code that autograd calls, in stacks without C++ frames. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define LAYER   PY("forward", "/home/u/model.py", 3) "," CALL
#define FORWARD LAYER "," SCRIPT
#define HOOK    PY("solve", "/home/u/model.py", 30) "," PY("hook", "/home/u/model.py", 40)
#define GRAD    PY("grad", TORCH "autograd/__init__.py", 500) "," HOOK
#define WEIGHT  1000
#define PASSES  2

static struct capture capture;

static void create(void)
{
    capture_init(&capture);
}

static void destroy(void)
{
    capture_release(&capture);
}

static void born(uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", addr, size, frames);
}

static void freed(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

/* Steps whose backward pass calls a hook, which runs passes of its own on a history that it makes.
 * The first hook makes a state and keeps it. */
static void train(const char *forward)
{
    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint64_t at = 100 * pass;
        born(at + 1, 100, forward);
        born(at + 2, 200, forward);
        born(at + 3, 300, "");
        born(at + 4, 5000, HOOK);
        if (pass == 0)
            born(90, WEIGHT, HOOK);
        for (unsigned i = 0; i < 10; i++) {
            born(at + 10 + i, 400, HOOK);
            born(at + 30 + i, 500, GRAD);
            freed(at + 10 + i, 400, "");
        }
        for (unsigned i = 0; i < 10; i++)
            freed(at + 30 + i, 500, HOOK);
        freed(at + 4, 5000, HOOK);
        born(at + 5, WEIGHT, "");
        freed(at + 3, 300, "");
        freed(at + 2, 200, "");
        freed(at + 1, 100, "");
        born(at + 6, 5, STACK_STEP);
        freed(at + 6, 5, STACK_STEP);
        freed(at + 5, WEIGHT, SCRIPT);
    }
    capture_block(&capture, 90, WEIGHT, HOOK);
    capture_load(&capture);
}

START_TEST(what_a_hook_makes_belongs_to_the_backward_pass)
{
    train(FORWARD);
    for (uint64_t at = 0; at < 100 * PASSES; at += 100) {
        capture_expect(&capture, at + 1, CATEGORY_ACTIVATION, CONFIDENCE_HIGH);
        capture_expect(&capture, at + 4, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
        capture_expect(&capture, at + 10, CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM);
        capture_expect(&capture, at + 5, CATEGORY_GRADIENT, CONFIDENCE_MEDIUM);
    }
}
END_TEST

START_TEST(what_a_hook_makes_in_the_first_pass_and_keeps_is_a_state)
{
    train(FORWARD);
    capture_expect(&capture, 90, CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW);
}
END_TEST

/* The program trains in a thread: no stack reaches up to its top level. */
START_TEST(where_no_stack_reaches_the_main_program_plain_code_is_no_hook)
{
    uint8_t reason;
    train(LAYER);
    capture_category_why(&capture, 104, &reason);
    ck_assert_int_ne(reason_of(reason), REASON_BACKWARD_PASSED_ON);
}
END_TEST

/* Without stacks: a hook of each weight copies its gradient to the host and drops it, where the
 * optimizer is. Each size has two weights. */
START_TEST(gradients_that_a_hook_drops_do_not_stay)
{
    for (uint64_t i = 0; i < 16; i++)
        born(500 + i, 4000 + i / 2, "");
    for (unsigned pass = 0; pass < 3; pass++) {
        for (uint64_t i = 0; i < 16; i++)
            born(100 + i, 6000 + i, "");
        for (uint64_t i = 16; i-- > 0;) {
            born(300 + i, 4000 + i / 2, "");
            born(400, 8000 + i, "");
            freed(300 + i, 4000 + i / 2, "");
            freed(400, 8000 + i, "");
            freed(100 + i, 6000 + i, "");
        }
    }
    for (uint64_t i = 0; i < 16; i++)
        capture_block(&capture, 500 + i, 4000 + i / 2, "");
    capture_load(&capture);
    for (uint64_t i = 0; i < 16; i++)
        ck_assert_int_eq(capture_category(&capture, 500 + i), CATEGORY_PARAMETER);
}
END_TEST

/* Without stacks: passes of which each keeps a result, if `leaks`. In the first, hooks make
 * averages and keep them. */
static void train_with_averages(bool leaks)
{
    for (uint64_t i = 0; i < 16; i++)
        born(500 + i, 4000 + i, "");
    for (uint64_t pass = 0; pass < 4; pass++) {
        for (uint64_t i = 0; i < 16; i++) {
            born(100 + i, 6000 + i, "");
            if (pass == 0 || leaks)
                born(1000 + 100 * pass + i, 2000 + i, "");
        }
        for (uint64_t i = 16; i-- > 0;) {
            born(200, 7000, "");
            born(300 + i, 4000 + i, "");
            freed(200, 7000, "");
            freed(100 + i, 6000 + i, "");
        }
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16, "");
        freed(60, 16, "");
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (uint64_t i = 0; i < 16; i++)
            freed(300 + i, 4000 + i, "");
    }
}

START_TEST(what_only_the_first_pass_keeps_is_a_state)
{
    train_with_averages(_i == 1);
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 1005),
                     _i == 1 ? CATEGORY_ACTIVATION : CATEGORY_OPTIMIZER_STATE);
}
END_TEST

TCase *category_hooks_tests(void)
{
    TCase *tests = tcase_create("categories of what hooks make");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, what_a_hook_makes_belongs_to_the_backward_pass);
    tcase_add_test(tests, what_a_hook_makes_in_the_first_pass_and_keeps_is_a_state);
    tcase_add_test(tests, gradients_that_a_hook_drops_do_not_stay);
    tcase_add_loop_test(tests, what_only_the_first_pass_keeps_is_a_state, 0, 2);
    tcase_add_test(tests, where_no_stack_reaches_the_main_program_plain_code_is_no_hook);
    return tests;
}
