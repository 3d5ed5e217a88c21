/* The iterations of a trace that annotations tell. Others are in steps_inferred_test.c. */
#include "unit/analysis/phase/steps_fixture.h"

START_TEST(profiler_steps_come_first)
{
    born(1, SCRIPT);
    annotate("START", "ProfilerStep#7");
    born(10, STACK_FORWARD);
    born(10, STACK_BACKWARD);
    born(10, STACK_STEP);
    annotate("END", "ProfilerStep#7");
    annotate("START", "ProfilerStep#8");
    annotate("START", "ProfilerStep#8"); /* told twice */
    born(100, STACK_FORWARD);
    capture_free(&capture, 5, 100, SCRIPT);
    annotate("END", "ProfilerStep#8");
    born(1, SCRIPT);
    annotate("START", "ProfilerStep#9");
    born(1, SCRIPT); /* no END */
    find();
    ck_assert_int_eq(steps.source, STEPS_PROFILER);
    ck_assert(!steps.one_optimizer_step);
    ck_assert_uint_eq(steps.count, 3);
    expect(0, 7, 1, 3, true);
    expect(1, 8, 4, 6, true);
    expect(2, 9, 8, 8, false);
    ck_assert_int_eq(steps.items[0].end_bytes, 31);
    ck_assert_int_eq(steps.items[1].peak_bytes, 131);
    ck_assert_uint_eq(steps.items[1].peak_item, 4);
    ck_assert_int_eq(steps.items[1].end_bytes, 31);
    ck_assert_uint_eq(steps_of(&steps, 0), NO_STEP);
    ck_assert_uint_eq(steps_of(&steps, 3), 0);
    ck_assert_uint_eq(steps_of(&steps, 7), NO_STEP);
    ck_assert_uint_eq(steps_of(&steps, 8), 2);
    ck_assert_uint_eq(steps_complete(&steps), 2);
}
END_TEST

START_TEST(a_step_that_lost_its_start_or_end)
{
    born(1, SCRIPT);
    annotate("END", "ProfilerStep#3");
    annotate("START", "ProfilerStep#4");
    born(1, SCRIPT);
    annotate("START", "ProfilerStep#5"); /* so 4 is over */
    born(1, SCRIPT);
    annotate("END", "ProfilerStep#5");
    annotate("START", "ProfilerStep#99999999999999999999"); /* no number */
    annotate("START", "ProfilerStep#");
    find();
    ck_assert_uint_eq(steps.count, 3);
    expect(0, 3, 0, 0, false);
    expect(1, 4, 1, 1, true);
    expect(2, 5, 2, 2, true);
}
END_TEST

START_TEST(a_ring_cuts_the_first_step)
{
    annotate("START", "ProfilerStep#0");
    annotate("END", "ProfilerStep#0");
    annotate("START", "ProfilerStep#1");
    born(1, SCRIPT);
    annotate("END", "ProfilerStep#1");
    annotate("START", "ProfilerStep#2");
    born(1, SCRIPT);
    annotate("END", "ProfilerStep#2");
    capture_setting(&capture, "trace_alloc_overflowed", "true");
    find();
    ck_assert_uint_eq(steps.count, 2); /* nothing is left of step 0 */
    expect(0, 1, 0, 0, false);
    expect(1, 2, 1, 1, true);
}
END_TEST

START_TEST(optimizer_annotations_end_steps)
{
    born(1, SCRIPT);
    for (int i = 0; i < 2; i++) {
        born(1, STACK_FORWARD);
        born(1, STACK_BACKWARD);
        annotate("START", "Optimizer.step#AdamW.step");
        born(1, SCRIPT);
        annotate("END", "Optimizer.step#AdamW.step");
        annotate("START", "Optimizer.step#SGD.step"); /* a second optimizer: the same step */
        annotate("END", "Optimizer.step#SGD.step");
        born(1, SCRIPT);
    }
    born(1, STACK_FORWARD);
    find();
    ck_assert_int_eq(steps.source, STEPS_ANNOTATION);
    ck_assert_uint_eq(steps.count, 3);
    ck_assert(!steps.one_optimizer_step); /* two optimizers */
    expect(0, 0, 0, 3, true);
    expect(1, 1, 4, 7, true);
    expect(2, 2, 8, 9, false);
}
END_TEST

START_TEST(a_closure_runs_the_passes_in_the_step)
{
    for (int i = 0; i < 3; i++) {
        born(1, SCRIPT);
        annotate("START", "Optimizer.step#Adam.step");
        born(1, STACK_FORWARD);
        annotate("START", "Optimizer.zero_grad#Adam.zero_grad");
        annotate("END", "Optimizer.zero_grad#Adam.zero_grad");
        born(1, STACK_BACKWARD);
        annotate("END", "Optimizer.step#Adam.step");
    }
    find();
    ck_assert_uint_eq(steps.count, 3);
    ck_assert(steps.one_optimizer_step);
    for (uint32_t i = 0; i < 3; i++)
        expect(i, i, i * 3, i * 3 + 2, true);
}
END_TEST

/* One optimizer's part of an iteration, of 4 events; the optimizer allocates `size` and what is
 * common to all. */
static void turn(uint64_t size)
{
    born(1, STACK_FORWARD);
    born(1, STACK_BACKWARD);
    annotate("START", "Optimizer.step#Adam.step");
    born(512, SCRIPT);
    born(size, SCRIPT);
    annotate("END", "Optimizer.step#Adam.step");
}

START_TEST(optimizers_that_take_turns_share_a_step)
{
    for (int i = 0; i < 3; i++) {
        for (int critic = 0; critic < 3; critic++)
            turn(1000);
        turn(2000);
    }
    turn(1000);
    born(1, STACK_FORWARD);
    find();
    ck_assert_int_eq(steps.source, STEPS_ANNOTATION);
    ck_assert_uint_eq(steps.count, 4);
    ck_assert(!steps.one_optimizer_step);
    ck_assert(!steps.turns_end);
    for (uint32_t i = 0; i < 3; i++)
        expect(i, i, i * 16, i * 16 + 15, true);
    expect(3, 3, 48, 52, false); /* the other optimizer's turn did not come */
}
END_TEST

/* The program makes its optimizers anew, for models that have grown. */
START_TEST(optimizers_that_are_replaced)
{
    for (uint64_t grown = 0; grown < 3; grown++)
        for (int i = 0; i < 3; i++) {
            turn(1000 + 100 * grown);
            turn(2000 + 100 * grown);
        }
    find();
    ck_assert(steps.turns_end);
}
END_TEST

START_TEST(lazy_turns_share_a_step)
{
    static const uint64_t sizes[] = {1000, 1000, 2000, 1000, 2000, 1000, 1000, 2000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        turn(sizes[i]);
    find();
    ck_assert_uint_eq(steps.count, 3);
    expect(0, 0, 0, 11, true);
    expect(1, 1, 12, 19, true);
    expect(2, 2, 20, 31, true);
}
END_TEST

START_TEST(an_optimizer_that_now_and_then_allocates_more)
{
    for (int i = 0; i < 9; i++) {
        turn(1000);
        if (i % 3 == 0) { /* such as states or preconditioners */
            annotate("START", "Optimizer.step#Adam.step");
            born(1000, SCRIPT);
            born(512, SCRIPT);
            born(3000, SCRIPT);
            annotate("END", "Optimizer.step#Adam.step");
        }
    }
    find();
    ck_assert_uint_eq(steps.count, 9);
}
END_TEST

START_TEST(stages_do_not_share_a_step)
{
    for (int i = 0; i < 4; i++)
        turn(1000);
    for (int i = 0; i < 4; i++)
        turn(2000);
    find();
    ck_assert_uint_eq(steps.count, 8);
}
END_TEST

START_TEST(annotations_of_another_device)
{
    born(1, SCRIPT);
    capture.time_us++;
    capture_annotate(&capture, "START", "ProfilerStep#0", 3);
    capture_annotate(&capture, "START", "ProfilerStep#6", 2);
    born(1, SCRIPT);
    capture_annotate(&capture, "END", "ProfilerStep#6", 2);
    born(1, SCRIPT);
    find();
    ck_assert_uint_eq(steps.count, 1);
    expect(0, 6, 1, 1, true);
}
END_TEST

/* The other one trains first in each iteration. */
START_TEST(a_device_that_trains_after_another)
{
    born(1, SCRIPT); /* a model */
    annotate("START", "Optimizer.step#SGD.step");
    annotate("END", "Optimizer.step#SGD.step");
    for (int i = 0; i < 3; i++) {
        born(1000, STACK_FORWARD);
        born(500, STACK_BACKWARD);
        annotate("START", "Optimizer.step#SGD.step");
        annotate("END", "Optimizer.step#SGD.step");
    }
    find();
    ck_assert_uint_eq(steps.count, 3);
    expect(0, 0, 0, 2, true);
    expect(1, 1, 3, 4, true);
    ck_assert(steps.one_optimizer_step);
}
END_TEST

TCase *steps_tests(void)
{
    TCase *tests = tcase_create("steps");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, profiler_steps_come_first);
    tcase_add_test(tests, a_step_that_lost_its_start_or_end);
    tcase_add_test(tests, a_ring_cuts_the_first_step);
    tcase_add_test(tests, optimizer_annotations_end_steps);
    tcase_add_test(tests, a_closure_runs_the_passes_in_the_step);
    tcase_add_test(tests, optimizers_that_take_turns_share_a_step);
    tcase_add_test(tests, optimizers_that_are_replaced);
    tcase_add_test(tests, lazy_turns_share_a_step);
    tcase_add_test(tests, an_optimizer_that_now_and_then_allocates_more);
    tcase_add_test(tests, stages_do_not_share_a_step);
    tcase_add_test(tests, annotations_of_another_device);
    tcase_add_test(tests, a_device_that_trains_after_another);
    return tests;
}
