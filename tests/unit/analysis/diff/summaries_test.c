/* The comparison of summaries: how call sites are matched, and what is said. */
#include "analysis/diff/summaries.h"

#include <string.h>

#include "unit/analysis/analysis.h"

static struct error err;

static struct summary_device device_of(struct summary_site *sites, size_t count)
{
    struct summary_device device = {
        .sites = sites, .site_count = count, .unused_bytes = -1, .steps_from = "none"};
    for (size_t i = 0; i < count; i++)
        device.peak_bytes += sites[i].bytes;
    return device;
}

static const struct summaries_diff_row *find(const struct summaries_diff *diff, const char *site)
{
    for (size_t i = 0; i < diff->count; i++)
        if (strcmp(diff->rows[i].site, site) == 0)
            return &diff->rows[i];
    ck_abort_msg("no row of %s", site);
}

START_TEST(sites_are_matched_without_their_lines)
{
    struct summary_site before[] = {
        {"a.py:10 f", "mm", "activation", "", 100, 1},
        {"a.py:20 g", "mm", "activation", "", 50, 1},
        {"a.py:20 g", "mm", "parameter", "", 7, 1},
        {"(3 more call sites)", "", "", "", 5, 3},
    };
    struct summary_site after[] = {
        {"a.py:12 f", "mm", "activation", "", 300, 2},
        {"a.py:20 g", "mm", "activation", "", 50, 1},
        {"a.py:20 g", "add", "activation", "", 9, 1},
        {"(9 more call sites)", "", "", "", 6, 9},
    };
    struct summary_device a = device_of(before, 4), b = device_of(after, 4);
    struct summaries_diff diff;
    const bool both[] = {true, true};
    ck_assert(summaries_diff_make(&diff, &a, &b, both, UNIT_AUTO, &err));
    ck_assert_uint_eq(diff.count, 5);
    ck_assert_uint_eq(diff.changed, 4);
    const struct summaries_diff_row *moved = &diff.rows[0];
    ck_assert_str_eq(moved->site, "a.py:12 f");
    ck_assert_str_eq(moved->was, "a.py:10 f");
    ck_assert(!moved->by_line);
    ck_assert_int_eq(moved->sums[0].bytes, 100);
    ck_assert_int_eq(moved->sums[1].bytes, 300);
    const struct summaries_diff_row *rest = find(&diff, "(call sites that the summary leaves out)");
    ck_assert_int_eq(rest->sums[0].bytes, 5);
    ck_assert_int_eq(rest->sums[1].bytes, 6);
    ck_assert_uint_eq(diff.warnings.count, 2);
    int64_t sums[2] = {0, 0};
    for (size_t i = 0; i < diff.count; i++)
        for (int side = 0; side < 2; side++)
            sums[side] += diff.rows[i].sums[side].bytes;
    ck_assert_int_eq(sums[0], a.peak_bytes);
    ck_assert_int_eq(sums[1], b.peak_bytes);
    summaries_diff_release(&diff);
}
END_TEST

START_TEST(nothing_changed)
{
    struct summary_site sites[] = {{"a.py:10 f", "mm", "activation", "", 100, 1}};
    struct summary_device a = device_of(sites, 1);
    struct summaries_diff diff;
    const bool one[] = {true, false};
    ck_assert(summaries_diff_make(&diff, &a, &a, one, UNIT_AUTO, &err));
    ck_assert_uint_eq(diff.changed, 0);
    ck_assert_str_eq(diff.summary.items[diff.summary.count - 1], "No call site changed.");
    ck_assert_uint_eq(diff.warnings.count, 1);
    ck_assert_int_eq(strncmp(diff.warnings.items[0], "A is a summary", 14), 0);
    summaries_diff_release(&diff);
}
END_TEST

TCase *diff_summaries_tests(void)
{
    TCase *tests = tcase_create("diff of summaries");
    tcase_add_test(tests, sites_are_matched_without_their_lines);
    tcase_add_test(tests, nothing_changed);
    return tests;
}
