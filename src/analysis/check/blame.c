#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"

void check_blame_release(struct check_blame *blame)
{
    free(blame->label);
    free(blame->file);
    *blame = (struct check_blame){0};
}

bool check_blame_site(const struct site_table *sites, stack_id stack, const struct site *site,
                      const char *label, int64_t bytes, struct check_blame *blame,
                      struct error *err)
{
    struct check_blame made = {.bytes = bytes};
    frame_id id;
    if (!check_copy_words(&made.label, label, err))
        return false;
    if (site_frame(sites, stack, site, &id)) {
        const struct symbols *symbols = site_table_symbols(sites);
        struct frame frame = symbols_frame_at(symbols, id);
        struct text file = symbols_text(symbols, frame.file);
        made.line = frame.line;
        if (!check_copy(&made.file, file.bytes, file.size, err)) {
            check_blame_release(&made);
            return false;
        }
    }
    *blame = made;
    return true;
}

static bool blame_row(const struct site_table *sites, const struct site_row *row, int64_t bytes,
                      struct check_blame *blame, struct error *err)
{
    return check_blame_site(sites, row->stack, &row->site, row->label.full, bytes, blame, err);
}

bool check_blame_rows(const struct device_report *report, const struct site_table *sites,
                      site_row_test *counts, void *self, struct check_blame *blame,
                      struct error *err)
{
    struct code_lines lines;
    const struct code_line *most = NULL;
    bool ok = true;
    if (!code_lines_make(&lines, report, sites, counts, self, err))
        return false;
    for (size_t i = 0; i < lines.count; i++) {
        const struct code_line *line = &lines.items[i];
        if (!most || line->bytes > most->bytes ||
            (line->bytes == most->bytes && site_frame_order(sites, line->frame, most->frame) < 0))
            most = line;
    }
    if (most)
        ok = blame_row(sites, &report->sites[most->row], most->bytes, blame, err);
    code_lines_release(&lines);
    for (size_t i = 0; !most && i < report->site_count; i++)
        if (!report->sites[i].is_remainder && counts(self, &report->sites[i]))
            return blame_row(sites, &report->sites[i], report->sites[i].bytes, blame, err);
    return ok;
}

static bool any_row(void *self, const struct site_row *row)
{
    (void)self, (void)row;
    return true;
}

/* The line that has grown most so far. */
struct increase {
    const struct code_line *line;
    int64_t bytes;
};

static void offer(struct increase *most, const struct code_line *line, int64_t bytes)
{
    if (bytes > most->bytes)
        *most = (struct increase){line, bytes};
}

/* The lines [first, end) of a function against those it had. As lines move when code is edited,
 * the first is taken to be what was the first, and so on; with more or fewer lines than before,
 * the function is compared as a whole. */
static void compare_function(const struct code_line *first, const struct code_line *end,
                             const struct baseline_line *old, size_t old_count,
                             struct increase *most)
{
    const struct code_line *largest = first;
    int64_t bytes = 0;
    bool pairs = (size_t)(end - first) == old_count;
    for (const struct code_line *line = first; line < end; line++) {
        if (pairs)
            offer(most, line, line->bytes - old[line - first].bytes);
        if (line->bytes > largest->bytes)
            largest = line;
        bytes += line->bytes;
    }
    for (size_t i = 0; i < old_count; i++)
        bytes -= old[i].bytes;
    if (!pairs)
        offer(most, largest, bytes);
}

bool check_blame_increase(const struct device_report *report, const struct site_table *sites,
                          const struct check_baseline *baseline,
                          const struct baseline_device *device, struct check_blame *blame,
                          struct error *err)
{
    struct code_lines lines;
    struct increase most = {0};
    bool ok = true;
    if (!code_lines_make(&lines, report, sites, any_row, NULL, err))
        return false;
    for (size_t i = 0, end; i < lines.count; i = end) {
        const struct code_line *line = &lines.items[i];
        size_t old_count;
        end = code_lines_function(&lines, i);
        const struct baseline_line *old =
            check_baseline_function(baseline, device, line->file, line->name, &old_count);
        compare_function(line, &lines.items[end], old, old_count, &most);
    }
    if (most.line)
        ok = blame_row(sites, &report->sites[most.line->row], most.bytes, blame, err);
    code_lines_release(&lines);
    return ok;
}
