#include "render/page/run.h"

#include "base/units.h"
#include "render/core/page.h"
#include "render/page/run_internal.h"
#include "render/plot/ranks_lines.h"
#include "render/ranks/rows.h"

#define OUTLIERS_MOST 100

static void add_spread(struct buffer *out, const struct rank_spread *spread)
{
    run_add_bytes(out, spread->min_bytes);
    if (spread->min_bytes == spread->max_bytes)
        return;
    buffer_puts(out, " to ");
    run_add_bytes(out, spread->max_bytes);
    buffer_puts(out, ", median ");
    run_add_bytes(out, spread->median_bytes);
}

static void add_head(struct buffer *out, const char *title, const struct ranks_report *report)
{
    const struct ranks *ranks = report->ranks;
    char count[UNITS_TEXT_SIZE];
    buffer_printf(out,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                  "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'sha256-%s'; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" "
                  "content=\"no-referrer\">\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\">\n<title>",
                  run_style_hash);
    run_add_text(out, title);
    buffer_puts(out, "</title>\n<style>");
    buffer_add(out, (const char *)run_style, run_style_size);
    buffer_puts(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
    run_add_text(out, title);
    buffer_printf(out,
                  "</h1>\n<p>%s %s. Peak of active memory: ", units_count(count, ranks->row_count),
                  ranks->row_count == 1 ? "rank" : "ranks");
    add_spread(out, &ranks->peak);
    buffer_puts(out, ". Peak of reserved memory: ");
    add_spread(out, &ranks->reserved);
    buffer_puts(out, ".</p>\n");
    struct buffer missing = BUFFER_INIT;
    add_missing(&missing, ranks);
    if (missing.size > 0)
        buffer_printf(out, "<p class=\"outlier\">%c%.*s.</p>\n", *missing.bytes - 'a' + 'A',
                      (int)missing.size - 1, missing.bytes + 1);
    out->failed |= missing.failed;
    buffer_release(&missing);
    if (ranks->host_rows > 0)
        buffer_printf(out, "<p>Pinned host memory of %zu captures is left out.</p>\n",
                      ranks->host_rows);
    if (report->failure_count > 0) {
        buffer_puts(out, "<p class=\"outlier\">Files that could not be read:</p>\n<ul>\n");
        for (size_t i = 0; i < report->failure_count; i++) {
            buffer_puts(out, "<li>");
            run_add_text(out, report->failures[i].path);
            buffer_puts(out, ": ");
            run_add_text(out, report->failures[i].error);
            buffer_puts(out, "</li>\n");
        }
        buffer_puts(out, "</ul>\n");
    }
    buffer_puts(out, "</header>\n<main>\n");
}

static void add_group(struct buffer *out, const struct ranks *ranks, size_t index,
                      const struct run_details *details)
{
    const struct rank_group *group = &ranks->groups[index];
    const struct summary_category *largest = largest_category(ranks->rows[group->rows[0]].device);
    struct buffer members = BUFFER_INIT;
    buffer_printf(out,
                  "<tr><td><svg class=\"swatch\" viewBox=\"0 0 1 1\"><rect width=\"1\" "
                  "height=\"1\" fill=\"#%06X\"/></svg> ",
                  rank_group_colour(index));
    add_group_name(out, index);
    buffer_printf(out, "</td><td class=\"number\">%zu</td><td class=\"number\">", group->count);
    run_add_bytes(out, group->peak.median_bytes);
    buffer_puts(out, "</td><td class=\"number\">");
    run_add_bytes(out, group->peak.min_bytes);
    buffer_puts(out, "</td><td class=\"number\">");
    run_add_bytes(out, group->peak.max_bytes);
    buffer_puts(out, "</td><td>");
    run_add_text(out, group->is_mixed ? "(mixed)" : largest ? largest->name : "");
    buffer_printf(out, "</td><td class=\"number\">%zu</td><td>", group->ooms);
    run_add_link(out, ranks, group->rows[0], details);
    buffer_puts(out, "</td><td>");
    add_group_members(&members, ranks, group);
    buffer_putc(&members, '\0');
    run_add_text(out, members.failed ? "" : members.bytes);
    out->failed |= members.failed;
    buffer_release(&members);
    buffer_puts(out, "</td></tr>\n");
}

static void add_groups(struct buffer *out, const struct ranks *ranks,
                       const struct run_details *details)
{
    buffer_puts(out,
                "<h2>Groups</h2>\n<p class=\"soft\">Ranks in which the same code holds the same "
                "memory.</p>\n<div class=\"wide\"><table>\n<tr><th>group</th><th>count</th>"
                "<th>median peak</th><th>lowest</th><th>highest</th><th>largest category</th>"
                "<th>out of memory</th><th>first</th><th>ranks</th></tr>\n");
    for (size_t i = 0; i < ranks->group_count; i++)
        add_group(out, ranks, i, details);
    buffer_puts(out, "</table></div>\n");
}

static void add_outlier(struct buffer *out, const struct ranks *ranks,
                        const struct rank_outlier *outlier, const struct run_details *details)
{
    int64_t peak = ranks->rows[outlier->row].device->peak_bytes,
            apart = peak - outlier->usual_bytes;
    buffer_puts(out, "<h3>");
    run_add_link(out, ranks, outlier->row, details);
    buffer_puts(out, ": peak ");
    run_add_bytes(out, peak);
    buffer_puts(out, ", ");
    run_add_bytes(out, apart < 0 ? -apart : apart);
    buffer_printf(out, " %s the median of group ", apart < 0 ? "below" : "above");
    add_group_name(out, outlier->group);
    buffer_puts(out, "</h3>\n<table>\n<tr><th>difference</th><th>here</th><th>median</th>"
                     "<th>category</th><th>call site</th></tr>\n");
    for (size_t i = 0; i < outlier->site_count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        buffer_printf(out, "<tr><td class=\"number\">%s",
                      site->bytes > site->usual_bytes ? "+" : "");
        run_add_bytes(out, site->bytes - site->usual_bytes);
        buffer_puts(out, "</td><td class=\"number\">");
        run_add_bytes(out, site->bytes);
        buffer_puts(out, "</td><td class=\"number\">");
        run_add_bytes(out, site->usual_bytes);
        buffer_puts(out, "</td><td>");
        run_add_text(out, site->site->category);
        buffer_puts(out, "</td><td>");
        run_add_site(out, site->site);
        buffer_puts(out, "</td></tr>\n");
    }
    buffer_puts(out, "</table>\n");
}

static void add_outliers(struct buffer *out, const struct ranks *ranks,
                         const struct run_details *details)
{
    size_t count = ranks->outlier_count < OUTLIERS_MOST ? ranks->outlier_count : OUTLIERS_MOST;
    if (count == 0)
        return;
    buffer_puts(out, "<h2>Outliers</h2>\n<p class=\"soft\">Ranks that differ from their group, and "
                     "the code that makes the difference.</p>\n");
    for (size_t i = 0; i < count; i++)
        add_outlier(out, ranks, &ranks->outliers[i], details);
    if (count < ranks->outlier_count)
        buffer_printf(out, "<p class=\"soft\">and %zu more</p>\n", ranks->outlier_count - count);
}

static void add_row(struct buffer *out, const struct ranks *ranks, size_t row,
                    const struct run_details *details)
{
    const struct summary_device *device = ranks->rows[row].device;
    const struct summary_category *largest = largest_category(device);
    char text[UNITS_TEXT_SIZE];
    buffer_puts(out, "<tr><td>");
    run_add_link(out, ranks, row, details);
    buffer_puts(out, "</td><td>");
    add_group_name(out, ranks->rows[row].group);
    buffer_puts(out, "</td><td class=\"number\">");
    run_add_bytes(out, device->peak_bytes);
    buffer_printf(out, "</td><td class=\"number\">%s</td><td class=\"number\">",
                  device->peak_us == SUMMARY_UNKNOWN ? "" : units_duration(text, device->peak_us));
    run_add_bytes(out, device->reserved_peak_bytes);
    buffer_puts(out, "</td><td class=\"number\">");
    if (device->unused_bytes != SUMMARY_UNKNOWN)
        run_add_bytes(out, device->unused_bytes);
    buffer_puts(out, "</td><td>");
    if (largest) {
        run_add_text(out, largest->name);
        buffer_printf(out, " %s", page_share(text, largest->bytes, device->peak_bytes));
    }
    buffer_puts(out, "</td><td>");
    if (device->ooms > 0)
        run_add_text(out, *device->oom ? device->oom : "yes");
    buffer_puts(out, "</td></tr>\n");
}

static void add_rows(struct buffer *out, const struct ranks *ranks,
                     const struct run_details *details)
{
    size_t count = ranks->row_count < RUN_PAGE_ROWS ? ranks->row_count : RUN_PAGE_ROWS;
    buffer_puts(out,
                "<h2>Ranks</h2>\n<div class=\"wide\"><table>\n<tr><th>rank</th><th>group</th>"
                "<th>peak</th><th>when</th><th>reserved</th><th>unused</th><th>largest category"
                "</th><th>out of memory</th></tr>\n");
    for (size_t row = 0; row < count; row++)
        add_row(out, ranks, row, details);
    buffer_puts(out, "</table></div>\n");
    if (count < ranks->row_count)
        buffer_printf(out, "<p class=\"soft\">and %zu more</p>\n", ranks->row_count - count);
    if (details->shown < details->row_count)
        buffer_printf(out,
                      "<p class=\"soft\">There was no room for the details of %zu ranks; memsnap "
                      "analyze shows them.</p>\n",
                      details->row_count - details->shown);
}

/* Writes what `out` holds and clears it. */
static bool flush(struct buffer *buffer, FILE *out, struct error *err)
{
    if (buffer->failed)
        return error_out_of_memory(err);
    if (buffer->size > 0)
        fwrite(buffer->bytes, 1, buffer->size, out);
    buffer_clear(buffer);
    return true;
}

bool run_page_write(FILE *out, const char *title, const struct ranks_report *report,
                    struct error *err)
{
    const struct ranks *ranks = report->ranks;
    struct run_details details;
    struct buffer text = BUFFER_INIT;
    if (!run_details_make(&details, ranks, err))
        return false;
    add_head(&text, title, report);
    buffer_puts(&text,
                "<h2>Memory of all ranks</h2>\n<p class=\"soft\">A click on a rank shows its "
                "details.</p>\n");
    bool ok = flush(&text, out, err) && run_map_put(out, ranks, &details, err);
    if (ok) {
        add_groups(&text, ranks, &details);
        add_outliers(&text, ranks, &details);
        add_rows(&text, ranks, &details);
        buffer_puts(&text, "</main>\n");
        ok = flush(&text, out, err);
    }
    if (ok) {
        run_details_put(out, ranks, &details);
        fputs("</body>\n</html>\n", out);
    }
    buffer_release(&text);
    run_details_release(&details);
    return ok;
}
