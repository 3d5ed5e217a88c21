#include "render/plot/sites.h"

#include <stdlib.h>
#include <string.h>

#include "model/device.h"
#include "render/analyze/internal.h"
#include "render/core/escape.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"

enum { SITES_SCRIPT, SITES_BARS };

/* Narrow pictures leave less room for names. */
static struct plot_margins sites_margins(const struct plot_look *look)
{
    if (look->format == PLOT_DUMB) /* a title of two lines */
        return (struct plot_margins){look->width * 2 / 5, 0, 3 * PLOT_CELL_HEIGHT, 0, PLOT_TITLES};
    bool is_wide = look->width >= 1430;
    return (struct plot_margins){is_wide ? 430 : look->width * 3 / 10,
                                 is_wide ? 200 : look->width * 14 / 100, 100, 60, PLOT_TITLES};
}

/* "2.03 GiB · 17.5% · 339 allocations" */
static void put_figures(char out[PLOT_BAR_TEXT], int64_t bytes, uint64_t count, int64_t whole)
{
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], number[UNITS_TEXT_SIZE];
    snprintf(out, PLOT_BAR_TEXT, "%.24s · %.10s · %.26s%s", units_bytes(size, bytes, UNIT_AUTO),
             page_share(share, bytes, whole), units_count(number, count), count == 1 ? "" : "×");
    if (count == 1)
        snprintf(out, PLOT_BAR_TEXT, "%.24s · %.10s", size, share);
}

/* `told`: the beginning of its title, raw bytes. */
static struct plot_bar *add(struct plot_bars *bars, unsigned colour, int64_t bytes, uint64_t count,
                            int64_t whole, const struct buffer *label, size_t letters,
                            const char *told, struct error *err)
{
    struct buffer escaped = BUFFER_INIT;
    escape_plot(&escaped, label->bytes, label->size, letters);
    struct plot_bar bar = {.label = escaped.bytes, .colour = colour, .bytes = (double)bytes};
    put_figures(bar.text, bytes, count, whole);
    buffer_puts(&bar.title, told);
    svg_title_begin(&bar.title);
    buffer_printf(&bar.title, "\n%s", bar.text);
    if (label->failed || escaped.failed || !escaped.bytes || bar.title.failed) {
        buffer_release(&escaped);
        buffer_release(&bar.title);
        error_out_of_memory(err);
        return NULL;
    }
    bars->items[bars->count] = bar;
    return &bars->items[bars->count++];
}

static bool add_site(struct plot_bars *bars, const struct plot_snapshot *snapshot,
                     const struct site_row *row, size_t letters, struct error *err)
{
    struct buffer label = BUFFER_INIT, told = BUFFER_INIT;
    buffer_puts(&label, row->label.brief);
    buffer_puts(&told, row->label.full);
    struct text op = site_operator_text(snapshot->symbols, &row->group.source.site);
    if (op.size > 0 && !row->is_remainder) {
        buffer_puts(&label, " · ");
        buffer_add(&label, op.bytes, op.size);
        buffer_puts(&told, " · ");
        buffer_add(&told, op.bytes, op.size);
    }
    unsigned colour = row->is_remainder ? PLOT_REST : plot_category_colour(row->group.category);
    struct plot_bar *bar =
        add(bars, colour, row->group.bytes, row->group.count, snapshot->report->at.active_bytes,
            &label, letters, told.failed ? "" : told.bytes, err);
    buffer_release(&label);
    buffer_release(&told);
    if (bar && !row->is_remainder) {
        char name[80];
        plot_category_name(name, row->group.category);
        buffer_printf(&bar->title, "\n%s", name);
    }
    return bar && (!bar->title.failed || error_out_of_memory(err));
}

static bool add_others(struct plot_bars *bars, const struct plot_snapshot *snapshot,
                       const struct site_row *others, size_t letters, struct error *err)
{
    struct buffer label = BUFFER_INIT;
    if (others->group.count == 0)
        return true;
    buffer_puts(&label, "(all other call sites)");
    bool ok = add(bars, PLOT_REST, others->group.bytes, others->group.count,
                  snapshot->report->at.active_bytes, &label, letters,
                  label.failed ? "" : label.bytes, err);
    buffer_release(&label);
    return ok;
}

static int by_size(const void *a, const void *b)
{
    const struct site_row *x = *(const struct site_row *const *)a,
                          *y = *(const struct site_row *const *)b;
    if (x->group.bytes != y->group.bytes)
        return x->group.bytes > y->group.bytes ? -1 : 1;
    return (x > y) - (x < y);
}

/* `rows` has room for all rows. Rows for a single site come first, the largest first. */
static size_t sort_rows(const struct device_report *report, const struct site_row **rows)
{
    size_t count = 0;
    for (size_t i = 0; i < report->site_count; i++)
        if (!report->sites[i].is_remainder)
            rows[count++] = &report->sites[i];
    if (count > 0)
        qsort(rows, count, sizeof(*rows), by_size);
    return count;
}

static bool fill(struct plot_bars *bars, const struct plot_snapshot *snapshot,
                 const struct site_row **rows, size_t most, size_t letters, struct error *err)
{
    const struct device_report *report = snapshot->report;
    size_t count = sort_rows(report, rows), remainders = report->site_count - count;
    size_t shown = count + remainders <= most ? count : most - 1 - remainders;
    struct site_row others = {0};
    for (size_t i = 0; i < shown; i++)
        if (!add_site(bars, snapshot, rows[i], letters, err))
            return false;
    for (size_t i = shown; i < count; i++) {
        others.group.bytes += rows[i]->group.bytes;
        others.group.count += rows[i]->group.count;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        if (row->is_remainder && row->group.count > 0) { /* call sites that the report cut */
            others.group.bytes += row->group.bytes;
            others.group.count += row->group.count;
        } else if (row->is_remainder) {
            ok = add_site(bars, snapshot, row, letters, err);
        }
    }
    return ok && add_others(bars, snapshot, &others, letters, err);
}

bool plot_sites_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                     struct plot_bars *bars, struct error *err)
{
    size_t count = snapshot->report->site_count;
    const struct site_row **rows = calloc(count + 1, sizeof(*rows));
    struct plot_bars made = {.items = calloc(count + 2, sizeof(*made.items))};
    bool ok = (rows && made.items) || error_out_of_memory(err);
    ok = ok && fill(&made, snapshot, rows, most < 4 ? 4 : most, letters, err);
    free(rows);
    if (ok)
        *bars = made;
    else
        plot_bars_release(&made);
    return ok;
}

bool plot_category_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                        struct plot_bars *bars, struct error *err)
{
    const struct device_report *report = snapshot->report;
    size_t count = report->category_count < most ? report->category_count : most;
    struct plot_bars made = {.items = calloc(count + 1, sizeof(*made.items))};
    bool ok = made.items || error_out_of_memory(err);
    for (size_t i = 0; ok && i < count; i++) {
        const struct category_row *row = &report->categories[i];
        struct buffer label = BUFFER_INIT;
        char name[80];
        plot_category_name(name, row->category);
        buffer_puts(&label, name);
        ok = add(&made, plot_category_colour(row->category), row->bytes, row->count,
                 report->at.active_bytes, &label, letters, name, err);
        buffer_release(&label);
    }
    if (ok)
        *bars = made;
    else
        plot_bars_release(&made);
    return ok;
}

static void put_legend(FILE *script, const struct plot_snapshot *snapshot,
                       const struct plot_look *look)
{
    const struct plot_margins margins = sites_margins(look);
    struct plot_legend legend = {0};
    bool used[CATEGORY_LIMIT] = {false};
    uint8_t order[CATEGORY_LIMIT];
    for (size_t i = 0; i < snapshot->report->site_count; i++)
        if (!snapshot->report->sites[i].is_remainder)
            used[snapshot->report->sites[i].group.category] = true;
    plot_category_order(order);
    for (size_t i = CATEGORY_LIMIT; i-- > 0;) {
        char name[80];
        plot_category_name(name, order[i]);
        if (used[order[i]])
            plot_legend_add(&legend, plot_category_colour(order[i]), name, "");
    }
    plot_legend_put(script, &legend, look->height - margins.top - margins.bottom);
}

static void put_titles(FILE *script, const struct plot_snapshot *snapshot,
                       const struct plot_look *look)
{
    const struct device_report *report = snapshot->report;
    char moment[PLOT_MOMENT_SIZE], bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    uint64_t allocations = 0;
    for (size_t i = 0; i < report->category_count; i++)
        allocations += report->categories[i].count;
    char text[512];
    units_bytes(bytes, report->at.active_bytes, UNIT_AUTO);
    plot_moment(moment, snapshot);
    if (look->format == PLOT_DUMB)
        snprintf(text, sizeof(text), "%s: %s live %s", DEVICE_WORDS(report->timeline->device),
                 bytes, moment);
    else
        snprintf(text, sizeof(text), "%s: call sites of the %s live %s, in %s allocation%s (×)",
                 DEVICE_WORDS(report->timeline->device), bytes, moment,
                 units_count(count, allocations), allocations == 1 ? "" : "s");
    struct buffer words = BUFFER_INIT;
    plot_unknown_words(&words, report->timeline, &report->all, report->at_item);
    plot_put_words(script, look, sites_margins(look), text,
                   words.size && !words.failed ? words.bytes : "");
    buffer_release(&words);
}

static bool write_all(const struct plot_snapshot *snapshot, const struct plot_look *look,
                      FILE *const files[], FILE *notes, struct error *err)
{
    const struct plot_margins margins = sites_margins(look);
    struct plot_bars bars = {0};
    if (!plot_sites_bars(snapshot, plot_bars_room(look, margins), plot_bars_letters(look, margins),
                         &bars, err))
        return false;
    put_titles(files[SITES_SCRIPT], snapshot, look);
    put_legend(files[SITES_SCRIPT], snapshot, look);
    bool ok = plot_bars_write(files[SITES_SCRIPT], files[SITES_BARS], "bars.tsv", &bars, look,
                              margins, notes, err);
    plot_bars_release(&bars);
    return ok;
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct plot_look *look = &job->request->look;
    const struct report_options *at = &job->request->report;
    size_t most = plot_bars_room(look, sites_margins(look));
    if (!plot_snapshot_report(snapshot, at, most, err))
        return false;
    bool ok = write_all(snapshot, look, job->files, job->notes, err);
    return ok;
}

const struct plot_kind plot_kind_sites = {
    .name = "sites",
    .summary = "call sites of the memory live at the peak, or --at",
    .files = {"plot.gp", "bars.tsv"},
    .templates = {"page.gp", "bars.gp"},
    .in_text = {"text-bars.gp"},
    .of_snapshot = draw,
};
