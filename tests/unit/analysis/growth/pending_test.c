/* Frees that had to wait for another stream. */
#include "analysis/growth/pending.h"

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

static const struct pending_frees *find(void)
{
    capture_load(&capture);
    report = capture_report(&capture, 0);
    return &report->pending;
}

START_TEST(only_long_waits_count)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "alloc", 2, 200, STACK_FORWARD);
    capture_event(&capture, "free_requested", 1, 100, SCRIPT);
    capture_event(&capture, "free_requested", 2, 200, SCRIPT);
    capture.time_us += 900;
    capture_event(&capture, "free_completed", 1, 100, SCRIPT); /* 902 us */
    capture.time_us += 700;
    capture_event(&capture, "alloc", 3, 1000, SCRIPT);
    capture_event(&capture, "free_completed", 2, 200, SCRIPT); /* 1603 us */
    const struct pending_frees *pending = find();
    ck_assert_uint_eq(pending->count, 1);
    ck_assert_uint_eq(pending->unfinished, 0);
    ck_assert_int_eq(pending->bytes, 200);
    ck_assert_int_eq(pending->longest_us, 1603);
    ck_assert_int_eq(pending->at_peak_bytes, 200);
    ck_assert_uint_eq(pending->row_count, 1);
    ck_assert_str_eq(pending->rows[0].label.full, "model.py:3 forward");
    ck_assert_int_eq(pending->rows[0].bytes_at_peak, 200);
    ck_assert(pending->rows[0].stream_known);
    ck_assert_int_eq(pending->rows[0].stream, 0);
}
END_TEST

/* The thread was interrupted between the two events of a free. */
START_TEST(a_pause_within_a_free)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "free_requested", 1, 100, SCRIPT);
    capture.time_us += 5000;
    capture_event(&capture, "free_completed", 1, 100, SCRIPT);
    ck_assert_uint_eq(find()->count, 0);
}
END_TEST

START_TEST(unfinished_and_from_before)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "free_requested", 1, 100, SCRIPT);
    capture.time_us += 5000;
    capture_event(&capture, "free_completed", 7, 30, SCRIPT); /* requested before the trace */
    const struct pending_frees *pending = find();
    ck_assert_uint_eq(pending->count, 2);
    ck_assert_uint_eq(pending->unfinished, 1);
    ck_assert_int_eq(pending->bytes, 130);
    ck_assert_int_eq(pending->rows[0].bytes, 100);
    ck_assert_int_eq(pending->rows[1].bytes, 30);
    ck_assert_uint_eq(pending->rows[1].stack, STACK_NONE);
}
END_TEST

START_TEST(nothing_waits)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_free(&capture, 1, 100, SCRIPT);
    const struct pending_frees *pending = find();
    ck_assert_uint_eq(pending->count, 0);
    ck_assert_int_eq(pending->at_peak_bytes, 0);
    ck_assert_uint_eq(pending->row_count, 0);
}
END_TEST

START_TEST(without_requests_nothing_is_told)
{
    capture_event(&capture, "alloc", 1, 100, SCRIPT);
    capture_event(&capture, "free_completed", 1, 100, SCRIPT);
    capture_event(&capture, "alloc", 1, 200, SCRIPT);
    ck_assert_int_eq(find()->at_peak_bytes, 0);
}
END_TEST

TCase *pending_tests(void)
{
    TCase *tests = tcase_create("pending frees");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, only_long_waits_count);
    tcase_add_test(tests, a_pause_within_a_free);
    tcase_add_test(tests, unfinished_and_from_before);
    tcase_add_test(tests, nothing_waits);
    tcase_add_test(tests, without_requests_nothing_is_told);
    return tests;
}
