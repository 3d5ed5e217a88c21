/* The page of a run: its details are bounded, and texts of summaries are text. */
#include "render/page/run_internal.h"

#include <stdlib.h>
#include <string.h>

#include "unit/render/render.h"

#define MIB   ((int64_t)1 << 20)
#define MOST  600
#define SITES 12
#define HALF  ((size_t)1 << 11)

static struct error err;
static struct summary *all[MOST];

/* A rank whose stacks take a lot of room. */
static struct summary *make(int64_t rank, int64_t peak, const char *stack)
{
    struct summary *summary = summary_create((size_t)1 << 20, &err);
    ck_assert_ptr_nonnull(summary);
    summary->rank = rank;
    summary->path = "x/<script>.pickle";
    summary->devices = summary_items(summary, 1, sizeof(*summary->devices), &err);
    summary->device_count = 1;
    struct summary_device *device = summary->devices;
    device->phase = device->oom = device->steps_from = "";
    device->peak_bytes = peak;
    device->sites = summary_items(summary, SITES, sizeof(*device->sites), &err);
    for (size_t i = 0; i < SITES; i++)
        device->sites[device->site_count++] =
            (struct summary_site){"<b>", "", "activation", stack, peak / SITES, 1};
    ck_assert(summary_curve_make(summary, device, 3, &err));
    return summary;
}

START_TEST(details_are_bounded_and_outliers_come_first)
{
    static char stack[HALF];
    struct ranks ranks;
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    memset(stack, '<', HALF - 1); /* each takes four bytes */
    for (size_t i = 0; i < MOST; i++)
        all[i] = make((int64_t)i, (i == MOST - 1 ? 103 : 100) * SITES * MIB, stack);
    ck_assert_msg(ranks_make(&ranks, all, MOST, &err), "%s", err.text);
    ck_assert_uint_eq(ranks.outlier_count, 1);
    const struct ranks_report report = {.ranks = &ranks, .captures = MOST};
    ck_assert(run_page_write(out, "<script>", &report, &err));
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_uint_lt(size, RUN_PAGE_DETAILS + ((size_t)1 << 20));
    ck_assert_uint_gt(size, RUN_PAGE_DETAILS / 2);
    ck_assert_ptr_nonnull(strstr(page, "<section class=\"rank\" id=\"r599\""));
    ck_assert_ptr_null(strstr(page, "<section class=\"rank\" id=\"r598\""));
    ck_assert_ptr_null(strstr(page, "href=\"#r598\""));
    ck_assert_ptr_nonnull(strstr(page, "There was no room for the details of"));
    ck_assert_ptr_null(strstr(page, "<script"));
    ck_assert_ptr_null(strstr(page, "<b>"));
    free(page);
    ranks_release(&ranks);
    for (size_t i = 0; i < MOST; i++)
        summary_destroy(all[i]);
}
END_TEST

TCase *run_page_tests(void)
{
    TCase *tests = tcase_create("page of a run");
    tcase_add_test(tests, details_are_bounded_and_outliers_come_first);
    return tests;
}
