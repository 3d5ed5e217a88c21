/* The data of a picture: columns, bands and their shapes, categories. */
#include "analysis/curves/bands.h"

#include "analysis/curves/category_curves.h"
#include "analysis/curves/site_ranks.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

static struct capture capture;
static struct sampling sampling;
static struct bands bands;
static struct band_shapes shapes;
static struct error err;

static void create(void)
{
    capture_init(&capture);
}

static void destroy(void)
{
    band_shapes_release(&shapes);
    bands_release(&bands);
    sampling_release(&sampling);
    capture_release(&capture);
}

static void sample(enum sampling_axis axis, size_t columns)
{
    capture_load(&capture);
    ck_assert(sampling_make(&sampling, capture.timeline, axis, columns, &err));
}

START_TEST(a_column_shows_its_highest_moment)
{
    for (uint64_t i = 0; i < 50; i++)
        capture_event(&capture, "alloc", 1 + i, 10, "");
    capture_event(&capture, "alloc", 100, 5000, ""); /* item 50: one event only */
    capture_event(&capture, "free_completed", 100, 5000, "");
    for (uint64_t i = 0; i < 48; i++)
        capture_event(&capture, "alloc", 200 + i, 10, "");
    sample(AXIS_EVENT, 10);
    ck_assert_uint_eq(sampling.count, 10);
    ck_assert_int_eq(sampling.items[5], 50);
    ck_assert_int_eq(sampling.active[5], 5500);
    ck_assert_int_eq(sampling.active[4], 500);
    ck_assert_double_eq(sampling.edges[5], 50);
    ck_assert_uint_eq(sampling_column(&sampling, 50), 5);
    ck_assert_uint_eq(sampling_column(&sampling, 51), 6);
    ck_assert_uint_eq(sampling_column(&sampling, EVENT_NEVER), 10);
}
END_TEST

START_TEST(a_column_without_events_shows_what_stays)
{
    capture_event(&capture, "alloc", 1, 10, "");
    capture.time_us += 1000;
    capture_event(&capture, "alloc", 2, 30, "");
    sample(AXIS_TIME, 10);
    ck_assert_uint_eq(sampling.count, 10);
    for (size_t c = 0; c < 9; c++)
        ck_assert_int_eq(sampling.active[c], 10);
    ck_assert_int_eq(sampling.active[9], 40);
    ck_assert_double_eq(sampling.edges[0], 0);
    ck_assert_double_eq_tol(sampling.edges[10], 1001, 1e-6);
}
END_TEST

START_TEST(no_events_leave_one_column)
{
    capture_block(&capture, 1, 70, "");
    sample(AXIS_EVENT, 10);
    ck_assert_uint_eq(sampling.count, 1);
    ck_assert_int_eq(sampling.items[0], -1);
    ck_assert_int_eq(sampling.active[0], 70);
    struct sampling by_time;
    ck_assert(!sampling_make(&by_time, capture.timeline, AXIS_TIME, 10, &err));
    ck_assert_int_eq(err.status, STATUS_USAGE);
}
END_TEST

/* 1 lives for 1 column, 2 and 3 for longer; 9 was there before and goes. */
static void three_and_one(void)
{
    capture_event(&capture, "alloc", 2, 20, "");
    capture_event(&capture, "alloc", 3, 15, "");
    capture_event(&capture, "alloc", 1, 40, "");
    capture_event(&capture, "free_completed", 1, 40, "");
    capture_event(&capture, "free_completed", 9, 5, "");
    capture_event(&capture, "free_completed", 2, 20, "");
    capture_block(&capture, 3, 15, "");
    sample(AXIS_EVENT, 100);
}

START_TEST(area_decides_and_age_orders)
{
    three_and_one();
    ck_assert(bands_choose(&bands, capture.timeline, &sampling, 2, &err));
    ck_assert_uint_eq(bands.count, 2); /* 20 x 5 and 15 x 5, not the largest */
    ck_assert_uint_eq(bands.items[0].size, 20);
    ck_assert_uint_eq(bands.items[1].size, 15);
    ck_assert_uint_eq(bands.left_out, 2);
    ck_assert_double_eq(bands.area, 175);
    ck_assert_double_eq(bands.total_area, 175 + 40 + 20);
}
END_TEST

START_TEST(bands_fall_when_one_below_goes)
{
    bool fits;
    three_and_one();
    ck_assert(bands_choose(&bands, capture.timeline, &sampling, 0, &err));
    ck_assert_uint_eq(bands.count, 4);
    ck_assert_uint_eq(bands.items[0].size, 5);
    ck_assert(band_shapes_make(&shapes, &bands, &sampling, 0, 100, &fits, &err));
    ck_assert(fits);
    const struct band_run *third = shapes.runs + shapes.first[2]; /* on 5 and 20 */
    ck_assert_uint_eq(shapes.first[3] - shapes.first[2], 3);
    ck_assert_double_eq(third[0].low, 25);
    ck_assert_double_eq(third[1].low, 20);
    ck_assert_uint_eq(third[1].column, 4);
    ck_assert_double_eq(third[2].low, 0);
    band_shapes_release(&shapes);
    ck_assert(band_shapes_make(&shapes, &bands, &sampling, 6, 100, &fits, &err));
    ck_assert_uint_eq(shapes.first[3] - shapes.first[2], 2); /* 5 bytes are no move */
    band_shapes_release(&shapes);
    ck_assert(band_shapes_make(&shapes, &bands, &sampling, 0, 4, &fits, &err));
    ck_assert(!fits);
}
END_TEST

START_TEST(categories_sum_to_the_curve)
{
    struct category_curves curves;
    three_and_one();
    struct device_report *report = capture_report(&capture, 0);
    ck_assert(category_curves_make(&curves, capture.timeline, &report->all, &sampling, &err));
    for (size_t c = 0; c < sampling.count; c++) {
        double sum = 0;
        for (size_t category = 0; category < CATEGORY_LIMIT; category++)
            sum += category_curve(&curves, category)[c];
        ck_assert_double_eq(sum, (double)sampling.active[c]);
        ck_assert_double_eq(category_curve(&curves, CATEGORY_COUNT)[c], 0);
    }
    category_curves_release(&curves);
    device_report_destroy(report);
}
END_TEST

START_TEST(the_rest_is_what_has_no_band)
{
    static const uint8_t groups[] = {3, 5, 3};
    struct category_curves curves;
    for (uint64_t i = 0; i < 3; i++)
        capture_event(&capture, "alloc", 1 + i, 10 * (i + 1), "");
    sample(AXIS_EVENT, 10);
    ck_assert(group_curves_make(&curves, capture.timeline, groups, groups, &sampling, &err));
    ck_assert_double_eq(category_curve(&curves, 3)[2], 40);
    group_curves_subtract(&curves, 3, 30, 2, 3);
    ck_assert_double_eq(category_curve(&curves, 3)[2], 10);
    ck_assert_double_eq(category_curve(&curves, 5)[2], 20);
    group_curves_subtract(&curves, 5, 21, 0, 3); /* more than there is */
    ck_assert_double_eq(category_curve(&curves, 5)[2], 0);
    category_curves_release(&curves);
}
END_TEST

START_TEST(call_sites_rank_by_all_of_their_allocations)
{
    struct site_ranks ranks;
    capture_event(&capture, "alloc", 1, 50, PY("f", "a.py", 1) "," SCRIPT);
    capture_event(&capture, "alloc", 2, 40, PY("g", "b.py", 2) "," SCRIPT);
    capture_event(&capture, "alloc", 3, 40, PY("g", "b.py", 2) "," PY("h", "c.py", 3));
    capture_event(&capture, "alloc", 4, 1, CPP("at::_ops::mm::call(x)"));
    capture_event(&capture, "alloc", 5, 2, "");
    sample(AXIS_EVENT, 10);
    ck_assert(site_ranks_make(&ranks, capture.timeline, &sampling, capture.sites, 3, &err));
    ck_assert_uint_eq(ranks.count, 3);
    ck_assert(ranks.has_others);
    const stack_id *stack = capture.timeline->trace->stack;
    ck_assert_uint_eq(ranks.of_stack[stack[0]], 1);
    ck_assert_uint_eq(ranks.of_stack[stack[1]], 0);
    ck_assert_uint_eq(ranks.of_stack[stack[2]], 0);
    ck_assert_uint_eq(ranks.of_stack[stack[3]], 2);
    ck_assert_uint_eq(ranks.of_stack[STACK_NONE], 3); /* none */
    ck_assert_uint_eq(ranks.example[2], stack[3]);
    site_ranks_release(&ranks);
}
END_TEST

TCase *bands_tests(void)
{
    TCase *tests = tcase_create("bands");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_column_shows_its_highest_moment);
    tcase_add_test(tests, a_column_without_events_shows_what_stays);
    tcase_add_test(tests, no_events_leave_one_column);
    tcase_add_test(tests, area_decides_and_age_orders);
    tcase_add_test(tests, bands_fall_when_one_below_goes);
    tcase_add_test(tests, categories_sum_to_the_curve);
    tcase_add_test(tests, the_rest_is_what_has_no_band);
    tcase_add_test(tests, call_sites_rank_by_all_of_their_allocations);
    return tests;
}
