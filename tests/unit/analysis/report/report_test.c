#include "analysis/report/report.h"

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

static void check_site(size_t index, const char *label, int64_t bytes, uint64_t count)
{
    ck_assert_uint_lt(index, report->site_count);
    ck_assert_str_eq(report->sites[index].label.full, label);
    ck_assert_int_eq(report->sites[index].group.bytes, bytes);
    ck_assert_uint_eq(report->sites[index].group.count, count);
}

START_TEST(live_allocations_are_grouped)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 300, STACK_FORWARD "," PY("main", "/home/u/train.py", 1));
    capture_event(&capture, "alloc", 3, 350, STACK_LOSS);
    capture_block(&capture, 9, 20, "");
    make_report(0);
    ck_assert_uint_eq(report->site_count, 3);
    check_site(0, "model.py:3 forward", 400, 2);
    ck_assert_uint_eq(report->sites[0].group.stacks, 2);
    ck_assert_uint_eq(report->sites[0].group.source.shown, capture.timeline->trace->stack[1]);
    check_site(1, "loss.py:4 loss", 350, 1);
    check_site(2, "(allocated before recording began)", 20, 1);
    ck_assert_uint_eq(report->largest_count, 4);
    ck_assert_uint_eq(report->largest[0].live.size, 350);
    ck_assert_int_eq(report->largest[0].born_item, 2);
    ck_assert_int_eq(report->largest[0].freed_item, -1);
    ck_assert_int_eq(report->largest[3].born_item, -1);
}
END_TEST

#define GRAB(op, line)                                                                             \
    CPP("at::_ops::" op "::call(x)")                                                               \
    "," PY("grab", "/a/pool.py", 3) "," PY("setup", "/a/app.py", line)

/* The callers of a function that allocates nearly everything are shown instead, unless it computes,
 * or something else holds a part of the memory. */
START_TEST(one_function_allocates_nearly_everything)
{
    for (uint64_t i = 0; i < 9; i++)
        capture_event(&capture, "alloc", 10 + i, 100,
                      i < 6     ? (_i == 1 ? GRAB("mm", 7) : GRAB("empty_memory_format", 7))
                      : _i == 1 ? GRAB("mm", 8)
                                : GRAB("empty_memory_format", 8));
    capture_event(&capture, "alloc", 30, _i == 2 ? 500 : 10, STACK_FORWARD);
    make_report(0);
    check_site(0, _i == 0 ? "app.py:7 setup" : "pool.py:3 grab", _i == 0 ? 600 : 900,
               _i == 0 ? 6 : 9);
    if (_i == 0)
        check_site(1, "app.py:8 setup", 300, 3);
}
END_TEST

START_TEST(operators_and_files_are_not_merged)
{
    capture_event(&capture, "alloc", 1, 100,
                  CPP("at::_ops::mm::call(x)") "," PY("f", "/a/m.py", 1));
    capture_event(&capture, "alloc", 2, 100,
                  CPP("at::_ops::exp::call(x)") "," PY("f", "/a/m.py", 1));
    capture_event(&capture, "alloc", 3, 100,
                  CPP("at::_ops::mm::call(x)") "," PY("f", "/b/m.py", 1));
    make_report(0);
    ck_assert_uint_eq(report->site_count, 3);
    check_site(0, "a/m.py:1 f", 100, 1); /* equal bytes: by file, then operator */
    check_site(1, "a/m.py:1 f", 100, 1);
    check_site(2, "b/m.py:1 f", 100, 1);
    struct text op = symbols_text(capture.snapshot->symbols, report->sites[0].group.source.site.op);
    ck_assert_str_eq(op.bytes, "aten::exp");
}
END_TEST

START_TEST(a_limit_leaves_a_labelled_remainder)
{
    capture_event(&capture, "alloc", 1, 100, PY("a", "/u/m.py", 1));
    capture_event(&capture, "alloc", 2, 90, PY("b", "/u/m.py", 2));
    capture_event(&capture, "alloc", 3, 80, PY("c", "/u/m.py", 3));
    make_report(1);
    ck_assert_uint_eq(report->site_count, 2);
    ck_assert_uint_eq(report->largest_count, 1);
    check_site(1, "(2 more sites)", 170, 2);
    ck_assert(report->sites[1].is_remainder);
}
END_TEST

START_TEST(what_has_no_stack_comes_after_the_call_sites)
{
    capture_event(&capture, "alloc", 1, 100, PY("a", "/u/m.py", 1));
    capture_event(&capture, "alloc", 2, 90, PY("b", "/u/m.py", 2));
    capture_event(&capture, "alloc", 3, 500, "");
    capture_event(&capture, "alloc", 4, 50, STACK_BACKWARD);
    capture_block(&capture, 9, 800, "");
    make_report(1);
    ck_assert_uint_eq(report->site_count, 4);
    check_site(0, "m.py:1 a", 100, 1);
    check_site(1, "(allocated before recording began)", 800, 1);
    check_site(2, "(no stack recorded)", 500, 1);
    check_site(3, "(2 more sites)", 140, 2);
    ck_assert_uint_eq(report->largest[0].live.size, 800);
}
END_TEST

START_TEST(what_the_trace_does_not_explain_is_a_row)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_free(&capture, 1, 30, STACK_FORWARD); /* of another size */
    capture_event(&capture, "alloc", 2, 200, STACK_FORWARD);
    make_report(0);
    ck_assert_int_eq(report->at.active_bytes, 270);
    check_site(1, "(not explained: the trace contradicts itself)", 70, 0);
    ck_assert(report->sites[1].is_remainder);
    ck_assert_str_eq(category_name(CATEGORY_COUNT), "unexplained");
}
END_TEST

START_TEST(forward_frames_name_the_code)
{
    capture_event_with(&capture, "alloc", 1, 100, STACK_BACKWARD,
                       ",\"forward_frames\":[" STACK_FORWARD "]");
    capture_event(&capture, "alloc", 2, 60, STACK_BACKWARD);
    make_report(0);
    check_site(0, "model.py:3 forward (its backward)", 100, 1);
    ck_assert(report->sites[0].group.source.site.has_backward);
    check_site(1, "MmBackward0 (backward pass, no Python stack)", 60, 1);
    ck_assert_str_eq(report->sites[1].label.brief, "MmBackward0 (backward)");
}
END_TEST

/* torch.compile: the line of the model, not of the code generated from it. */
START_TEST(generated_code_names_its_original)
{
    capture_event(&capture, "alloc", 1, 100,
                  "{\"name\":\"forward\",\"filename\":\"/tmp/fx_generated_1.py\",\"line\":7,"
                  "\"fx_node_op\":\"call_function\",\"fx_original_trace\":"
                  "\"  File \\\"/home/u/train.py\\\", line 9, in main\\n    m(x)\\n"
                  "  File \\\"/home/u/model.py\\\", line 31, in attend\\n    q @ k\"}");
    make_report(0);
    check_site(0, "model.py:31 attend", 100, 1);
}
END_TEST

START_TEST(any_moment_can_be_asked_for)
{
    struct error err;
    struct report_options options = {.at = {.kind = WHEN_POINT, .point = {POINT_EVENT, 0}}};
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 50, STACK_FORWARD);
    capture_annotate(&capture, "START", "at the peak", 0);
    capture_free(&capture, 1, 100, STACK_FORWARD);
    capture_block(&capture, 2, 50, "");
    capture_load(&capture);
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_nonnull(report);
    report_check_sums(report);
    ck_assert_int_eq(report->at.active_bytes, 100);
    ck_assert_int_eq(report->peak.active_bytes, 150);
    ck_assert_uint_eq(report->annotations.count, 0);
    ck_assert_uint_eq(report->peak_annotations.count, 1);
    device_report_destroy(report);

    options = (struct report_options){.at.kind = WHEN_END};
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_nonnull(report);
    report_check_sums(report);
    ck_assert_int_eq(report->at.active_bytes, 50);
    device_report_destroy(report);

    options = (struct report_options){.at = {.kind = WHEN_POINT, .point = {POINT_EVENT, 99}}};
    report = device_report_build(capture.timeline, capture.sites, &options, &err);
    ck_assert_ptr_null(report);
    ck_assert_int_eq(err.status, STATUS_USAGE);
}
END_TEST

static void check_open(size_t index, const char *name)
{
    ck_assert_uint_lt(index, report->annotations.count);
    struct text text =
        symbols_text(capture.snapshot->symbols, report->annotations.items[index].name);
    ck_assert_str_eq(text.bytes, name);
}

START_TEST(annotations_nest_and_repeat)
{
    capture_annotate(&capture, "END", "stray", 0);
    capture_annotate(&capture, "START", "epoch", 0);
    capture_annotate(&capture, "START", "step", 0);
    capture_annotate(&capture, "START", "elsewhere", 1);
    capture_event(&capture, "alloc", 1, 10, STACK_FORWARD);
    capture_annotate(&capture, "START", "step", 0);
    capture_annotate(&capture, "START", "done", 0);
    capture_event(&capture, "alloc", 2, 10, STACK_FORWARD);
    capture_annotate(&capture, "END", "done", 0);
    capture_event(&capture, "alloc", 3, 10, STACK_FORWARD);
    capture_event(&capture, "alloc", 4, 10, STACK_FORWARD); /* the peak */
    capture_free(&capture, 1, 10, STACK_FORWARD);
    capture_annotate(&capture, "START", "later", 0);
    make_report(0);
    ck_assert_int_eq(report->at_item, 3);
    ck_assert_uint_eq(report->annotations.count, 3);
    check_open(0, "epoch");
    check_open(1, "step");
    check_open(2, "step");
}
END_TEST

START_TEST(no_allocation_no_peak)
{
    capture_block(&capture, 9, 20, "");
    capture_event(&capture, "free_completed", 1, 100, "");
    make_report(0);
    ck_assert(!timeline_knows_peak(capture.timeline));
    for (size_t i = 0; i < report->notice_count; i++)
        ck_assert_int_ne(report->notices[i].kind, NOTICE_MORE_THAN_RESERVED);
}
END_TEST

TCase *report_tests(void)
{
    TCase *tests = tcase_create("report");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, live_allocations_are_grouped);
    tcase_add_loop_test(tests, one_function_allocates_nearly_everything, 0, 3);
    tcase_add_test(tests, operators_and_files_are_not_merged);
    tcase_add_test(tests, a_limit_leaves_a_labelled_remainder);
    tcase_add_test(tests, what_has_no_stack_comes_after_the_call_sites);
    tcase_add_test(tests, what_the_trace_does_not_explain_is_a_row);
    tcase_add_test(tests, forward_frames_name_the_code);
    tcase_add_test(tests, generated_code_names_its_original);
    tcase_add_test(tests, any_moment_can_be_asked_for);
    tcase_add_test(tests, annotations_nest_and_repeat);
    tcase_add_test(tests, no_allocation_no_peak);
    return tests;
}
