/* Traces whose events have no stack, with stacks of the blocks that are live at the end. */
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_events.h"

#define SIZE 4096
#define INIT PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT

START_TEST(the_stack_of_a_block_shows_its_category)
{
    static const struct {
        const char *stack;
        enum category category;
    } cases[] = {
        {INIT, CATEGORY_PARAMETER},
        {STACK_STEP, CATEGORY_OPTIMIZER_STATE},
        {STACK_FORWARD, CATEGORY_ACTIVATION},
        {STACK_BACKWARD, CATEGORY_GRADIENT},
    };
    born(1, SIZE);
    capture_block(&capture, 1, SIZE, cases[_i].stack);
    capture_load(&capture);
    ck_assert_int_eq(capture_category(&capture, 1), cases[_i].category);
}
END_TEST

/* The latest allocation at an address is that of the block. */
START_TEST(an_earlier_allocation_does_not_have_the_stack)
{
    born(1, SIZE);
    freed(1, SIZE);
    born(1, SIZE);
    capture_block(&capture, 1, SIZE, INIT);
    capture_load(&capture);
    ck_assert_uint_eq(capture.timeline->block_stack_count, 1);
    ck_assert_uint_eq(timeline_stack(capture.timeline, 0), STACK_NONE);
    ck_assert_uint_ne(timeline_stack(capture.timeline, 1), STACK_NONE);
}
END_TEST

START_TEST(a_block_of_another_size_is_another)
{
    born(1, SIZE);
    capture_block(&capture, 1, 2 * SIZE, INIT);
    capture_load(&capture);
    ck_assert_uint_eq(capture.timeline->block_stack_count, 0);
}
END_TEST

START_TEST(events_keep_their_own_stacks)
{
    capture_event(&capture, "alloc", 1, SIZE, STACK_STEP);
    capture_block(&capture, 1, SIZE, INIT);
    capture_load(&capture);
    ck_assert_uint_eq(capture.timeline->block_stack_count, 0);
}
END_TEST

START_TEST(call_sites_and_the_notice)
{
    born(1, SIZE);
    born(2, SIZE);
    capture_block(&capture, 1, SIZE, INIT);
    freed(2, SIZE);
    capture_load(&capture);
    struct device_report *report = capture_report(&capture, 10);
    bool is_named = false, is_told = false;
    for (size_t i = 0; i < report->site_count; i++)
        is_named = is_named || strstr(report->sites[i].label.full, "train.py:9");
    for (size_t i = 0; i < report->notice_count; i++)
        is_told = is_told || strstr(report->notices[i].text, "1 of 2 allocations have no stack: "
                                                             "the history was recorded with "
                                                             "context=\"state\"");
    ck_assert(is_named && is_told);
    device_report_destroy(report);
}
END_TEST

TCase *category_block_stack_tests(void)
{
    TCase *tests = tcase_create("stacks of blocks alone");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, the_stack_of_a_block_shows_its_category, 0, 4);
    tcase_add_test(tests, an_earlier_allocation_does_not_have_the_stack);
    tcase_add_test(tests, a_block_of_another_size_is_another);
    tcase_add_test(tests, events_keep_their_own_stacks);
    tcase_add_test(tests, call_sites_and_the_notice);
    return tests;
}
