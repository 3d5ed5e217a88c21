#include "analysis/report/report.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

/* The only notice of its kind; NULL without one. */
static const char *notice(enum notice_kind kind)
{
    const char *text = NULL;
    if (!report) {
        capture_load(&capture);
        report = capture_report(&capture, 10);
    }
    for (size_t i = 0; i < report->notice_count; i++) {
        if (report->notices[i].kind != kind)
            continue;
        ck_assert_ptr_null(text);
        text = report->notices[i].text;
    }
    return text;
}

static void check_holds(enum notice_kind kind, const char *part)
{
    const char *text = notice(kind);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in \"%s\"", part, text);
}

START_TEST(a_sound_capture_has_none)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_block(&capture, 1, 100, STACK_FORWARD);
    notice(NOTICE_OVERFLOW);
    ck_assert_uint_eq(report->notice_count, 0);
}
END_TEST

START_TEST(recording_was_off)
{
    capture_block(&capture, 1, 100, "");
    check_holds(NOTICE_NO_EVENTS,
                "no events: call `torch.cuda.memory._record_memory_history()` before");
    ck_assert_uint_eq(report->notice_count, 1);
}
END_TEST

START_TEST(recording_kept_stacks_only)
{
    capture_block(&capture, 1, 100, SCRIPT);
    check_holds(NOTICE_NO_EVENTS, "enabled=\"all\"");
    ck_assert_ptr_null(notice(NOTICE_OVERFLOW));
}
END_TEST

/* So few events are not those of a recording of stacks only: its ring holds one. */
START_TEST(the_ring_held_no_allocation)
{
    capture_free(&capture, 2, 50, SCRIPT);
    capture_block(&capture, 1, 100, SCRIPT);
    check_holds(NOTICE_OVERFLOW, "1 block has a stack but no allocation among the 2 events");
    ck_assert_ptr_null(notice(NOTICE_NO_EVENTS));
}
END_TEST

/* skip_actions=["alloc", "free_requested", "free_completed"] */
START_TEST(only_segments_were_recorded)
{
    capture.total_size = 200; /* from address 0 on */
    capture_event(&capture, "segment_alloc", 0, 200, "");
    capture_block(&capture, 0, 200, SCRIPT);
    check_holds(NOTICE_UNRECORDED, "alloc and frees were not recorded");
    ck_assert_ptr_null(notice(NOTICE_NO_EVENTS));
    ck_assert_ptr_null(notice(NOTICE_OVERFLOW));
}
END_TEST

START_TEST(findings_without_a_peak)
{
    capture_block(&capture, 1, 100, STACK_STEP);
    capture_load(&capture);
    report = capture_report(&capture, 10);
    const struct finding *finding = report_finding(report, FINDING_OPTIMIZER_STATE);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "100.0% of the memory in use"));
}
END_TEST

START_TEST(the_ring_overflowed_says_the_file)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_block(&capture, 1, 100, "");
    capture_setting(&capture, "trace_alloc_overflowed", "true");
    check_holds(NOTICE_OVERFLOW, "max_entries");
}
END_TEST

START_TEST(the_ring_overflowed_say_the_blocks)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_block(&capture, 1, 100, SCRIPT);
    capture_block(&capture, 2, 100, SCRIPT);
    check_holds(NOTICE_OVERFLOW, "1 block has a stack but no allocation");
}
END_TEST

START_TEST(frees_of_older_blocks_are_no_overflow)
{
    for (uint64_t i = 1; i < 50; i++)
        capture_free(&capture, i, 100, SCRIPT);
    capture_event(&capture, "alloc", 100, 100, SCRIPT);
    ck_assert_ptr_null(notice(NOTICE_OVERFLOW));
}
END_TEST

START_TEST(no_stacks_at_all)
{
    capture_event(&capture, "alloc", 1, 100, "");
    check_holds(NOTICE_NO_STACKS, "stacks=\"all\"");
}
END_TEST

START_TEST(some_without_stacks)
{
    capture_event(&capture, "alloc", 1, 100, "");
    capture_event(&capture, "alloc", 2, 100, SCRIPT);
    check_holds(NOTICE_NO_STACKS, "1 of 2 allocations");
}
END_TEST

START_TEST(unknown_actions_are_named)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "alloc_shared", 2, 100, SCRIPT);
    capture_event(&capture, "alloc_shared", 2, 100, SCRIPT);
    capture_event(&capture, "defragment", 2, 100, SCRIPT);
    check_holds(NOTICE_UNKNOWN_ACTION, "alloc_shared (2), defragment (1)");
}
END_TEST

START_TEST(many_unknown_actions_fit)
{
    char name[64];
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof(name), "some_action_of_a_rather_long_name_%d", i);
        capture_event(&capture, name, 2, 100, SCRIPT);
    }
    check_holds(NOTICE_UNKNOWN_ACTION, "...");
}
END_TEST

START_TEST(contradictions_are_counted)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "alloc", 2, 50, SCRIPT);
    capture_free(&capture, 2, 30, SCRIPT);
    capture_load(&capture);
    report = capture_report(&capture, 10);
    const char *text = NULL;
    for (size_t i = 0; !text && i < report->notice_count; i++)
        if (report->notices[i].kind == NOTICE_CONTRADICTION)
            text = report->notices[i].text;
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(strstr(text, "1 allocation of an address that was still in use"));
}
END_TEST

START_TEST(blocks_that_leave_some_of_their_segment)
{
    capture.total_size = 1000;
    capture.untold_bytes = 600;
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_block(&capture, 1, 100, STACK_FORWARD);
    check_holds(NOTICE_SEGMENTS, "the blocks of the dump leave out 600 B of the 1,000 B reserved");
}
END_TEST

START_TEST(blocks_larger_than_their_segment)
{
    capture.total_size = 1000;
    capture_event(&capture, "alloc", 1, 1400, STACK_FORWARD);
    capture_block(&capture, 1, 1400, STACK_FORWARD);
    check_holds(NOTICE_SEGMENTS, "400 B larger than the segments");
}
END_TEST

START_TEST(more_active_than_reserved)
{
    capture.total_size = 64;
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    check_holds(NOTICE_MORE_THAN_RESERVED, "100 B are active at the peak but only 64 B reserved");
}
END_TEST

START_TEST(more_segments_made_than_there_are)
{
    capture.total_size = 1000;
    capture_event(&capture, "segment_alloc", 1, 600, SCRIPT);
    capture_event(&capture, "segment_alloc", 1000, 800, SCRIPT);
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_block(&capture, 1, 100, STACK_FORWARD);
    check_holds(NOTICE_RESERVED_BELOW_ZERO, "reserved memory falls to 400 B below 0");
    ck_assert_ptr_null(notice(NOTICE_MORE_THAN_RESERVED));
}
END_TEST

START_TEST(reserved_below_0_at_the_peak_is_said_once)
{
    capture.total_size = 100;
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "segment_alloc", 1000, 800, SCRIPT);
    capture_block(&capture, 1, 100, STACK_FORWARD);
    check_holds(NOTICE_RESERVED_BELOW_ZERO, "700 B below 0");
    ck_assert_ptr_null(notice(NOTICE_MORE_THAN_RESERVED));
}
END_TEST

START_TEST(segments_taken_back)
{
    capture.total_size = 1000;
    capture_event(&capture, "segment_free", 1, 600, SCRIPT);
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_block(&capture, 1, 100, STACK_FORWARD);
    ck_assert_ptr_null(notice(NOTICE_RESERVED_BELOW_ZERO));
}
END_TEST

TCase *report_notices_tests(void)
{
    TCase *tests = tcase_create("notices");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_sound_capture_has_none);
    tcase_add_test(tests, recording_was_off);
    tcase_add_test(tests, recording_kept_stacks_only);
    tcase_add_test(tests, the_ring_held_no_allocation);
    tcase_add_test(tests, only_segments_were_recorded);
    tcase_add_test(tests, findings_without_a_peak);
    tcase_add_test(tests, the_ring_overflowed_says_the_file);
    tcase_add_test(tests, the_ring_overflowed_say_the_blocks);
    tcase_add_test(tests, frees_of_older_blocks_are_no_overflow);
    tcase_add_test(tests, no_stacks_at_all);
    tcase_add_test(tests, some_without_stacks);
    tcase_add_test(tests, unknown_actions_are_named);
    tcase_add_test(tests, many_unknown_actions_fit);
    tcase_add_test(tests, contradictions_are_counted);
    tcase_add_test(tests, blocks_that_leave_some_of_their_segment);
    tcase_add_test(tests, blocks_larger_than_their_segment);
    tcase_add_test(tests, more_active_than_reserved);
    tcase_add_test(tests, more_segments_made_than_there_are);
    tcase_add_test(tests, reserved_below_0_at_the_peak_is_said_once);
    tcase_add_test(tests, segments_taken_back);
    return tests;
}
