/* The details of the ranks in the page of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/core/page.h"
#include "render/page/run_internal.h"
#include "render/plot/plot.h"
#include "render/ranks/rows.h"

#define SITES_MOST 12
#define STEPS_MOST 24  /* the last ones */
#define WIDTH      640 /* width of a curve, in units of its drawing */
#define HEIGHT     300

static void add_figure(struct buffer *out, const char *name, int64_t bytes)
{
    if (bytes == SUMMARY_UNKNOWN)
        return;
    buffer_printf(out, "<dt>%s</dt><dd>", name);
    run_add_bytes(out, bytes);
    buffer_puts(out, "</dd>\n");
}

static void add_number(struct buffer *out, const char *name, uint64_t number)
{
    char text[UNITS_TEXT_SIZE];
    buffer_printf(out, "<dt>%s</dt><dd>%s</dd>\n", name, units_count(text, number));
}

static void add_words(struct buffer *out, const char *name, const char *words)
{
    if (!*words)
        return;
    buffer_printf(out, "<dt>%s</dt><dd>", name);
    run_add_text(out, words);
    buffer_puts(out, "</dd>\n");
}

static void add_figures(struct buffer *out, const struct rank_row *row)
{
    const struct summary_device *device = row->device;
    char text[UNITS_TEXT_SIZE];
    buffer_puts(out, "<dl>\n");
    add_figure(out, device->knows_peak ? "peak of active memory" : "active memory at the dump",
               device->peak_bytes);
    if (device->peak_us != SUMMARY_UNKNOWN)
        buffer_printf(out, "<dt>when</dt><dd>%s</dd>\n", units_duration(text, device->peak_us));
    add_words(out, "phase", device->phase);
    add_figure(out, "peak of reserved memory", device->reserved_peak_bytes);
    add_figure(out, "reserved but unused at the peak", device->unused_bytes);
    add_figure(out, "active at the start", device->start_bytes);
    add_figure(out, "active at the end", device->end_bytes);
    if (device->growth_bytes != 0)
        add_figure(out, "growth a step", device->growth_bytes);
    add_number(out, "events", device->events);
    add_number(out, "steps", device->steps);
    if (device->ooms > 0)
        add_number(out, "out-of-memory errors", device->ooms);
    add_words(out, "the last one", device->oom);
    add_words(out, "file", row->summary->path);
    buffer_puts(out, "</dl>\n");
}

static unsigned colour_of(const char *category)
{
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (strcmp(category_name((enum category)i), category) == 0)
            return plot_category_colour(i);
    return PLOT_REST;
}

static void add_categories(struct buffer *out, const struct summary_device *device)
{
    char share[UNITS_TEXT_SIZE];
    buffer_puts(out, "<h3>Categories at the peak</h3>\n<table>\n");
    for (size_t i = 0; i < device->category_count; i++) {
        const struct summary_category *category = &device->categories[i];
        if (category->bytes == 0)
            continue;
        buffer_printf(out,
                      "<tr><td><svg class=\"swatch\" viewBox=\"0 0 1 1\"><rect width=\"1\" "
                      "height=\"1\" fill=\"#%06X\"/></svg> ",
                      colour_of(category->name));
        run_add_text(out, category->name);
        buffer_puts(out, "</td><td class=\"number\">");
        run_add_bytes(out, category->bytes);
        buffer_printf(out, "</td><td class=\"number\">%s</td></tr>\n",
                      page_share(share, category->bytes, device->peak_bytes));
    }
    buffer_puts(out, "</table>\n");
}

static void add_site(struct buffer *out, const struct summary_site *site)
{
    buffer_puts(out, "<tr><td class=\"number\">");
    run_add_bytes(out, site->bytes);
    buffer_puts(out, "</td><td class=\"category\">");
    run_add_text(out, site->category);
    buffer_puts(out, "</td><td>");
    if (*site->stack)
        buffer_puts(out, "<details><summary>");
    run_add_site(out, site);
    if (*site->stack) {
        buffer_puts(out, "</summary><ol>");
        for (const char *at = site->stack; *at;) {
            size_t size = strcspn(at, "\n");
            struct buffer line = BUFFER_INIT;
            buffer_add(&line, at, size);
            buffer_putc(&line, '\0');
            buffer_puts(out, "<li>");
            run_add_text(out, line.failed ? "" : line.bytes);
            buffer_puts(out, "</li>");
            out->failed |= line.failed;
            buffer_release(&line);
            at += size + (at[size] == '\n');
        }
        buffer_puts(out, "</ol></details>");
    }
    buffer_puts(out, "</td></tr>\n");
}

static void add_sites(struct buffer *out, const struct summary_device *device)
{
    size_t count = device->site_count < SITES_MOST ? device->site_count : SITES_MOST;
    buffer_puts(out, "<h3>Call sites of this memory</h3>\n<table>\n");
    for (size_t i = 0; i < count; i++)
        add_site(out, &device->sites[i]);
    buffer_puts(out, "</table>\n");
    if (count < device->site_count)
        buffer_printf(out, "<p class=\"soft\">and %zu more</p>\n", device->site_count - count);
}

static void add_step(struct buffer *out, const struct summary_step *step)
{
    buffer_printf(out, "<tr><td class=\"number\">%lld%s</td><td class=\"number\">",
                  (long long)step->number, step->complete ? "" : " (in part)");
    run_add_bytes(out, step->peak_bytes);
    buffer_puts(out, "</td><td class=\"number\">");
    run_add_bytes(out, step->end_bytes);
    buffer_puts(out, "</td></tr>\n");
}

static void add_step_list(struct buffer *out, const struct summary_device *device)
{
    size_t count = device->step_list_count, first = count > STEPS_MOST ? count - STEPS_MOST : 0;
    if (count == 0)
        return;
    buffer_puts(out, "<h3>Steps</h3>\n<table>\n<tr><th>step</th><th>peak</th><th>after it</th>"
                     "</tr>\n");
    for (size_t i = first; i < count; i++)
        add_step(out, &device->step_list[i]);
    buffer_puts(out, "</table>\n");
    if (first > 0)
        buffer_puts(out, "<p class=\"soft\">the last ones</p>\n");
}

static void add_findings(struct buffer *out, const struct summary_device *device)
{
    if (device->finding_count == 0)
        return;
    buffer_puts(out, "<h3>Findings</h3>\n<ul>\n");
    for (size_t i = 0; i < device->finding_count; i++) {
        buffer_puts(out, "<li>");
        run_add_text(out, device->findings[i].what);
        buffer_puts(out, "<br><span class=\"soft\">");
        run_add_text(out, device->findings[i].next);
        buffer_puts(out, "</span></li>\n");
    }
    buffer_puts(out, "</ul>\n");
}

/* The extreme of a curve's columns that belong to column `c` of the drawing. */
static int64_t extreme(const int64_t *values, size_t count, size_t columns, size_t c, bool highest)
{
    size_t from = c * count / columns, to = (c + 1) * count / columns;
    int64_t found = values[from];
    for (size_t i = from + 1; i < to; i++)
        if (highest ? values[i] > found : values[i] < found)
            found = values[i];
    return found;
}

/* Steps from the left edge to the right one. */
static void add_steps(struct buffer *out, const struct summary_curve *curve, const int64_t *values,
                      double top, bool highest)
{
    size_t count = (size_t)curve->columns,
           columns = count < RUN_PAGE_COLUMNS ? count : RUN_PAGE_COLUMNS;
    long before = 0;
    for (size_t c = 0; c < columns; c++) {
        double bytes = (double)extreme(values, count, columns, c, highest);
        long y = HEIGHT - (long)(HEIGHT * (bytes > 0 ? bytes : 0) / top + 0.5);
        if (c == 0)
            buffer_printf(out, "M0 %ld", y);
        else if (y != before)
            buffer_printf(out, "H%.1fV%ld", (double)c * WIDTH / (double)columns, y);
        before = y;
    }
    buffer_printf(out, "H%d", WIDTH);
}

static double highest_of(const struct summary_curve *curve, const int64_t *values, double most)
{
    for (size_t c = 0; c < curve->columns; c++)
        most = (double)values[c] > most ? (double)values[c] : most;
    return most;
}

static void add_curve(struct buffer *out, const struct summary_device *device)
{
    const struct summary_curve *curve = &device->curve;
    char text[UNITS_TEXT_SIZE];
    if (curve->columns == 0)
        return;
    double top = highest_of(curve, curve->reserved, highest_of(curve, curve->high, 1));
    buffer_printf(out,
                  "<h3>Memory over %s</h3>\n<svg class=\"curve\" viewBox=\"0 0 %d %d\" "
                  "preserveAspectRatio=\"none\" role=\"img\"><path class=\"high\" d=\"",
                  curve->by_time ? "time" : "allocator events", WIDTH, HEIGHT);
    add_steps(out, curve, curve->high, top, true);
    buffer_printf(out, "V%dH0Z\"/><path class=\"low\" d=\"", HEIGHT);
    add_steps(out, curve, curve->low, top, false);
    buffer_printf(out, "V%dH0Z\"/><path class=\"reserved\" d=\"", HEIGHT);
    add_steps(out, curve, curve->reserved, top, true);
    buffer_printf(out,
                  "\"/></svg>\n<p class=\"soft\">up to %s; line: reserved; light: between the "
                  "lowest and the highest active memory of a column</p>\n",
                  units_bytes(text, (int64_t)top, UNIT_AUTO));
}

static void add_rank(struct buffer *out, const struct rank_row *row)
{
    add_curve(out, row->device);
    add_figures(out, row);
    add_categories(out, row->device);
    add_sites(out, row->device);
    add_step_list(out, row->device);
    add_findings(out, row->device);
}

/* Makes the details of a row, unless it has them or they do not fit. */
static bool make(struct run_details *details, const struct ranks *ranks, size_t row, size_t *left,
                 struct error *err)
{
    struct buffer *text = &details->texts[row];
    if (text->size > 0)
        return true;
    add_rank(text, &ranks->rows[row]);
    if (text->failed)
        return error_out_of_memory(err);
    if (text->size > *left) {
        buffer_release(text);
        *text = BUFFER_INIT;
        return true;
    }
    *left -= text->size;
    details->shown++;
    return true;
}

bool run_details_make(struct run_details *details, const struct ranks *ranks, struct error *err)
{
    struct run_details made = {.texts = calloc(ranks->row_count + 1, sizeof(*made.texts)),
                               .row_count = ranks->row_count};
    size_t left = RUN_PAGE_DETAILS;
    bool ok = made.texts || error_out_of_memory(err);
    for (size_t i = 0; ok && i < ranks->outlier_count; i++)
        ok = make(&made, ranks, ranks->outliers[i].row, &left, err);
    for (size_t i = 0; ok && i < ranks->group_count; i++)
        ok = make(&made, ranks, ranks->groups[i].rows[0], &left, err);
    for (size_t row = 0; ok && row < ranks->row_count; row++)
        ok = make(&made, ranks, row, &left, err);
    if (ok)
        *details = made;
    else
        run_details_release(&made);
    return ok;
}

void run_details_release(struct run_details *details)
{
    for (size_t i = 0; details->texts && i < details->row_count; i++)
        buffer_release(&details->texts[i]);
    free(details->texts);
    *details = (struct run_details){0};
}

/* The next row with details in one direction; the number of rows if there is none. */
static size_t neighbour(const struct run_details *details, size_t row, bool forward)
{
    for (;;) {
        if (forward ? row + 1 == details->row_count : row == 0)
            return details->row_count;
        row = forward ? row + 1 : row - 1;
        if (details->texts[row].size > 0)
            return row;
    }
}

void run_details_put(FILE *out, const struct ranks *ranks, const struct run_details *details)
{
    for (size_t row = 0; row < details->row_count; row++) {
        const struct buffer *text = &details->texts[row];
        struct buffer name = BUFFER_INIT, shown = BUFFER_INIT;
        if (text->size == 0)
            continue;
        size_t before = neighbour(details, row, false), after = neighbour(details, row, true);
        add_row_name(&name, &ranks->rows[row]);
        buffer_putc(&name, '\0');
        run_add_text(&shown, name.failed ? "" : name.bytes);
        fprintf(out, "<section class=\"rank\" id=\"r%zu\">\n<nav><a href=\"#none\">close</a>", row);
        if (before < details->row_count)
            fprintf(out, "<a href=\"#r%zu\">&larr; previous</a>", before);
        if (after < details->row_count)
            fprintf(out, "<a href=\"#r%zu\">next &rarr;</a>", after);
        fprintf(out, "</nav>\n<h2>%.*s</h2>\n", (int)shown.size, shown.size ? shown.bytes : "");
        fwrite(text->bytes, 1, text->size, out);
        fputs("</section>\n", out);
        buffer_release(&name);
        buffer_release(&shown);
    }
}
