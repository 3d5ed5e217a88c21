/* Groups and outliers of made-up ranks. */
#include "analysis/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit/analysis/analysis.h"

#define MIB  ((int64_t)1 << 20)
#define MOST 200

static struct error err;

/* A rank with one device, and call sites of so many bytes: site i is named by names[i]. */
static struct summary *make(int64_t rank, const char *const *names, const int64_t *bytes,
                            size_t count)
{
    struct summary *summary = summary_create((size_t)1 << 20, &err);
    ck_assert_ptr_nonnull(summary);
    summary->rank = rank;
    summary->devices = summary_items(summary, 1, sizeof(*summary->devices), &err);
    summary->device_count = 1;
    struct summary_device *device = summary->devices;
    device->phase = device->oom = device->steps_from = "";
    device->sites = summary_items(summary, count, sizeof(*device->sites), &err);
    for (size_t i = 0; i < count; i++) {
        device->sites[device->site_count++] =
            (struct summary_site){names[i], "", "activation", "", bytes[i], 1};
        device->peak_bytes += bytes[i];
    }
    device->reserved_peak_bytes = 2 * device->peak_bytes;
    return summary;
}

static struct summary *with(int64_t rank, int64_t a, int64_t b)
{
    const char *const names[] = {"a", "b"};
    const int64_t bytes[] = {a, b};
    return make(rank, names, bytes, 2);
}

static void compare(struct ranks *ranks, struct summary **summaries, size_t count)
{
    ck_assert_msg(ranks_make(ranks, summaries, count, &err), "%s", err.text);
}

static void release(struct ranks *ranks, struct summary **summaries, size_t count)
{
    ranks_release(ranks);
    for (size_t i = 0; i < count; i++)
        summary_destroy(summaries[i]);
}

START_TEST(rows_are_in_the_order_of_ranks)
{
    struct summary *all[] = {with(10, MIB, 0), with(2, 5 * MIB, 0), with(1, 3 * MIB, 0)};
    struct ranks ranks;
    compare(&ranks, all, 3);
    ck_assert_uint_eq(ranks.row_count, 3);
    ck_assert_int_eq(ranks.rows[0].summary->rank, 1);
    ck_assert_int_eq(ranks.rows[2].summary->rank, 10);
    ck_assert_int_eq(ranks.peak.min_bytes, MIB);
    ck_assert_int_eq(ranks.peak.median_bytes, 3 * MIB);
    ck_assert_int_eq(ranks.peak.max_bytes, 5 * MIB);
    ck_assert_uint_eq(ranks.peak.max_row, 1);
    ck_assert_int_eq(ranks.reserved.max_bytes, 10 * MIB);
    release(&ranks, all, 3);
}
END_TEST

/* Two stages of a pipeline, and a rank of the second one with 20 MiB more at b. */
START_TEST(stages_are_groups_and_a_leak_is_an_outlier)
{
    struct summary *all[8];
    struct ranks ranks;
    for (int64_t i = 0; i < 8; i++)
        all[i] = i < 4 ? with(i, 90 * MIB, 10 * MIB) : with(i, 10 * MIB, (i == 6 ? 110 : 90) * MIB);
    compare(&ranks, all, 8);
    ck_assert_uint_eq(ranks.group_count, 3);
    ck_assert_uint_eq(ranks.groups[0].count, 4);
    ck_assert_uint_eq(ranks.groups[1].count, 3);
    ck_assert_uint_eq(ranks.groups[2].count, 1);
    ck_assert_uint_eq(ranks.rows[6].group, 2);
    ck_assert_uint_eq(ranks.outlier_count, 1);
    const struct rank_outlier *outlier = &ranks.outliers[0];
    ck_assert_uint_eq(outlier->row, 6);
    ck_assert_uint_eq(outlier->group, 1);
    ck_assert_int_eq(outlier->usual_bytes, 100 * MIB);
    ck_assert_uint_eq(outlier->site_count, 1);
    ck_assert_str_eq(outlier->sites[0].site->site, "b");
    ck_assert_int_eq(outlier->sites[0].bytes, 110 * MIB);
    ck_assert_int_eq(outlier->sites[0].usual_bytes, 90 * MIB);
    release(&ranks, all, 8);
}
END_TEST

/* 3% more is alike, but far from the median; a site that others lack is named. */
START_TEST(outliers_within_a_group)
{
    const char *const names[] = {"a", "only here"};
    const int64_t bytes[] = {100 * MIB, 3 * MIB};
    struct summary *all[4] = {make(0, names, bytes, 2)};
    struct ranks ranks;
    for (int64_t i = 1; i < 4; i++)
        all[i] = make(i, names, bytes, 1);
    compare(&ranks, all, 4);
    ck_assert_uint_eq(ranks.group_count, 1);
    ck_assert_uint_eq(ranks.outlier_count, 1);
    ck_assert_uint_eq(ranks.outliers[0].row, 0);
    ck_assert_str_eq(ranks.outliers[0].sites[0].site->site, "only here");
    ck_assert_int_eq(ranks.outliers[0].sites[0].usual_bytes, 0);
    release(&ranks, all, 4);
}
END_TEST

START_TEST(few_ranks_have_no_outliers)
{
    struct summary *all[] = {with(0, MIB, 0), with(1, 500 * MIB, 0)};
    struct ranks ranks;
    compare(&ranks, all, 2);
    ck_assert_uint_eq(ranks.group_count, 2);
    ck_assert_uint_eq(ranks.outlier_count, 0);
    release(&ranks, all, 2);
}
END_TEST

/* More kinds of ranks than groups: the rest is one mixed group without outliers. */
START_TEST(groups_are_limited)
{
    static char names[MOST][8];
    struct summary *all[MOST];
    struct ranks ranks;
    for (size_t i = 0; i < MOST; i++) {
        const char *name = names[i];
        snprintf(names[i], sizeof(names[i]), "s%zu", i);
        all[i] = make((int64_t)i, &name, (const int64_t[]){(int64_t)(i + 1) * MIB}, 1);
    }
    compare(&ranks, all, MOST);
    ck_assert_uint_eq(ranks.group_count, RANKS_GROUPS_MOST + 1);
    ck_assert(ranks.groups[RANKS_GROUPS_MOST].is_mixed);
    ck_assert_uint_eq(ranks.groups[RANKS_GROUPS_MOST].count, MOST - RANKS_GROUPS_MOST);
    ck_assert_uint_eq(ranks.outlier_count, 0);
    release(&ranks, all, MOST);
}
END_TEST

START_TEST(host_memory_is_left_out)
{
    struct summary *all[] = {with(0, MIB, 0), with(1, MIB, 0)};
    struct ranks ranks;
    all[1]->devices[0].device = -1;
    compare(&ranks, all, 2);
    ck_assert_uint_eq(ranks.row_count, 1);
    ck_assert_uint_eq(ranks.host_rows, 1);
    ranks_release(&ranks);
    all[0]->devices[0].device = -1;
    compare(&ranks, all, 2);
    ck_assert_uint_eq(ranks.row_count, 2);
    ck_assert_uint_eq(ranks.host_rows, 0);
    release(&ranks, all, 2);
}
END_TEST

START_TEST(devices_without_memory_are_left_out)
{
    struct summary *all[] = {with(0, MIB, 0), with(1, 0, 0), with(2, 0, 0)};
    struct ranks ranks;
    all[2]->devices[0].reserved_peak_bytes = MIB;
    compare(&ranks, all, 3);
    ck_assert_uint_eq(ranks.row_count, 2);
    ck_assert_int_eq(ranks.rows[1].summary->rank, 2);
    ck_assert_uint_eq(ranks.host_rows, 0);
    release(&ranks, all, 3);
}
END_TEST

START_TEST(missing_and_repeated_ranks)
{
    struct summary *all[] = {with(1, MIB, 0), with(2, MIB, 0), with(2, MIB, 0),
                             with(2, MIB, 0), with(7, MIB, 0), with(SUMMARY_UNKNOWN, MIB, 0)};
    struct ranks ranks;
    struct rank_gaps gaps;
    compare(&ranks, all, 6);
    ranks_find_missing(&ranks, &gaps);
    ck_assert_uint_eq(gaps.missing, 5);
    ck_assert_uint_eq(gaps.count, 2);
    ck_assert_int_eq(gaps.items[0].first, 0);
    ck_assert_int_eq(gaps.items[0].last, 0);
    ck_assert_int_eq(gaps.items[1].first, 3);
    ck_assert_int_eq(gaps.items[1].last, 6);
    ck_assert_uint_eq(gaps.repeated, 1);
    ck_assert_int_eq(gaps.repeats_of, 2 + 1);
    release(&ranks, all, 6);
}
END_TEST

TCase *ranks_tests(void)
{
    TCase *tests = tcase_create("ranks");
    tcase_add_test(tests, rows_are_in_the_order_of_ranks);
    tcase_add_test(tests, stages_are_groups_and_a_leak_is_an_outlier);
    tcase_add_test(tests, outliers_within_a_group);
    tcase_add_test(tests, few_ranks_have_no_outliers);
    tcase_add_test(tests, groups_are_limited);
    tcase_add_test(tests, host_memory_is_left_out);
    tcase_add_test(tests, devices_without_memory_are_left_out);
    tcase_add_test(tests, missing_and_repeated_ranks);
    return tests;
}
