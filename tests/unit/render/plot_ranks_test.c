/* The picture of the ranks of a run: its rows, shades and texts. */
#include "render/plot/ranks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "render/plot/script.h"
#include "unit/render/render.h"

#define MIB     ((int64_t)1 << 20)
#define MOST    2000
#define HOSTILE "x/';system('touch owned')#`touch owned`\x1b[2J\n\"<b>&@"

static struct error err;
static struct summary *all[MOST];
static struct ranks ranks;

static const struct summary_site site = {
    .site = "a.py:1 f", .op = "", .category = "activation", .stack = "", .bytes = 1, .count = 1};

/* A rank whose memory rises to the peak in `columns` columns. */
static struct summary *make(int64_t rank, const char *path, int64_t peak, int64_t duration_us,
                            size_t columns)
{
    struct summary *summary = summary_create((size_t)1 << 20, &err);
    ck_assert_ptr_nonnull(summary);
    summary->rank = rank;
    summary->path = path;
    summary->devices = summary_items(summary, 1, sizeof(*summary->devices), &err);
    summary->device_count = 1;
    struct summary_device *device = summary->devices;
    device->phase = device->oom = device->steps_from = "";
    device->peak_bytes = device->reserved_peak_bytes = peak;
    device->duration_us = duration_us;
    device->sites = summary_items(summary, 1, sizeof(site), &err);
    device->sites[0] = site;
    device->sites[0].bytes = peak;
    device->site_count = 1;
    ck_assert(summary_curve_make(summary, device, columns, &err));
    device->curve.by_time = true;
    for (size_t i = 0; i < columns; i++)
        device->curve.high[i] = peak * (int64_t)(i + 1) / (int64_t)columns;
    return summary;
}

static void compare(size_t count)
{
    ck_assert_msg(ranks_make(&ranks, all, count, &err), "%s", err.text);
}

static void release(size_t count)
{
    ranks_release(&ranks);
    for (size_t i = 0; i < count; i++)
        summary_destroy(all[i]);
}

START_TEST(a_row_shows_the_highest_of_neighbours)
{
    struct rank_lines lines;
    for (size_t i = 0; i < MOST; i++)
        all[i] = make((int64_t)i, "x", (i == 1234 ? 40 : 10) * MIB, 1000, 10);
    compare(MOST);
    ck_assert(rank_lines_make(&lines, &ranks, 100, 20, &err));
    ck_assert_uint_eq(lines.count, 100);
    ck_assert_uint_eq(lines.most, 20);
    size_t ranks_shown = 0;
    for (size_t i = 0; i < lines.count; i++) {
        int8_t last = lines.levels[i * 20 + 19];
        bool is_high = i == 1234 / 20;
        ranks_shown += lines.items[i].count;
        ck_assert_int_eq(rank_line_bytes(&lines, i), (is_high ? 40 : 10) * MIB);
        ck_assert_int_eq(last, is_high ? RANKS_LEVELS - 1 : RANKS_LEVELS / 4);
    }
    ck_assert_uint_eq(ranks_shown, MOST);
    rank_lines_release(&lines);
    release(MOST);
}
END_TEST

START_TEST(a_shorter_trace_ends_earlier)
{
    struct rank_lines lines;
    all[0] = make(0, "x", 8 * MIB, 500, 10);
    all[1] = make(1, "x", 8 * MIB, 1000, 10);
    compare(2);
    ck_assert(rank_lines_make(&lines, &ranks, 10, 10, &err));
    ck_assert(lines.by_time);
    ck_assert_int_eq(lines.levels[4], RANKS_LEVELS - 1);
    ck_assert_int_eq(lines.levels[5], -1);
    ck_assert_int_eq(lines.levels[10 + 4], RANKS_LEVELS / 2);
    rank_lines_release(&lines);

    all[1]->devices[0].duration_us = SUMMARY_UNKNOWN; /* then all are as long */
    ck_assert(rank_lines_make(&lines, &ranks, 10, 10, &err));
    ck_assert(!lines.by_time);
    ck_assert_int_eq(lines.levels[9], RANKS_LEVELS - 1);
    ck_assert_int_eq(lines.levels[10 + 9], RANKS_LEVELS - 1);
    rank_lines_release(&lines);
    release(2);
}
END_TEST

START_TEST(rows_are_named)
{
    struct rank_lines lines;
    struct buffer name = BUFFER_INIT;
    for (size_t i = 0; i < 4; i++)
        all[i] = make((int64_t)i, "x", MIB, 1000, 2);
    all[4] = make(SUMMARY_UNKNOWN, "run/other.pickle", MIB, 1000, 2);
    compare(5);
    ck_assert(rank_lines_make(&lines, &ranks, 5, 2, &err));
    rank_line_name(&name, &lines, 0); /* without a rank come first */
    rank_line_name(&name, &lines, 4);
    ck_assert_uint_eq(name.size, strlen("other.picklerank 3"));
    ck_assert_mem_eq(name.bytes, "other.picklerank 3", name.size);
    rank_lines_release(&lines);
    ck_assert(rank_lines_make(&lines, &ranks, 2, 2, &err));
    buffer_clear(&name);
    rank_line_name(&name, &lines, 1);
    ck_assert_mem_eq(name.bytes, "ranks 1-3", name.size);
    buffer_release(&name);
    rank_lines_release(&lines);
    release(5);
}
END_TEST

/* Draws `count` ranks; returns the bytes of the heat map. */
static long draw(enum plot_format format, size_t count, struct plot_request *request)
{
    const struct plot_kind *kind = &plot_kind_ranks;
    struct plot_job job = {.request = request};
    struct ranks_report report = {.ranks = &ranks, .captures = count};
    const struct plot_script_parts parts = {.files = kind->files};
    FILE *script = tmpfile();
    request->look.format = format;
    for (size_t i = 0; kind->files[i]; i++)
        job.files[i] = tmpfile();
    ck_assert_msg(kind->of_ranks(&job, &report, &err), "%s", err.text);
    rewind(job.files[0]);
    ck_assert_msg(plot_script_add(script, job.files[0], &parts, &err), "%s", err.text);
    long size = ftell(job.files[1]);
    fclose(script);
    for (size_t i = 1; kind->files[i]; i++) {
        rewind(job.files[i]);
        for (int c; (c = getc(job.files[i])) != EOF;)
            ck_assert_msg(c >= ' ' || c == '\n' || c == '\t', "%s: byte %d", kind->files[i], c);
    }
    for (size_t i = 0; kind->files[i]; i++)
        fclose(job.files[i]);
    return size;
}

START_TEST(thousands_of_ranks_stay_small_and_names_are_text)
{
    struct plot_request request = {
        .look = {.kind = "ranks", .width = 1600, .height = 900, .title = "t"}};
    for (size_t i = 0; i < MOST; i++)
        all[i] =
            make(i % 2 ? (int64_t)i : SUMMARY_UNKNOWN, HOSTILE, (int64_t)(i + 1) * MIB, 1000, 100);
    compare(MOST);
    ck_assert_int_lt(draw(PLOT_SVG, MOST, &request), 1000000);
    request.look.width = 80 * PLOT_CELL_WIDTH;
    request.look.height = 24 * PLOT_CELL_HEIGHT;
    ck_assert_int_lt(draw(PLOT_DUMB, MOST, &request), 24 * 200);
    release(MOST);
}
END_TEST

TCase *plot_ranks_tests(void)
{
    TCase *tests = tcase_create("plot ranks");
    tcase_add_test(tests, a_row_shows_the_highest_of_neighbours);
    tcase_add_test(tests, a_shorter_trace_ends_earlier);
    tcase_add_test(tests, rows_are_named);
    tcase_add_test(tests, thousands_of_ranks_stay_small_and_names_are_text);
    return tests;
}
