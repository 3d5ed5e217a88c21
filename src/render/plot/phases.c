#include <stdlib.h>
#include <string.h>

#include "model/curve_cursor.h"
#include "model/device.h"
#include "render/core/moments.h"
#include "render/core/page.h"
#include "render/plot/legend.h"
#include "render/plot/snapshot.h"
#include "render/plot/svg_titles.h"

enum { PHASES_SCRIPT, PHASES_BARS, PHASES_STEPS };

static const struct plot_margins phases_margins = {80, 230, 100, 60, PLOT_TITLES};

#define HEADROOM    1.14 /* above the highest bar: its figures */
#define STRIP       1.05 /* how far the axis of phases.gp goes beyond that: the steps */
#define BARS_MOST   700  /* bars; if there are more, neighbours are joined */
#define NAME_PIXELS 76   /* width of a bar, for its name and the figures below and above it */
#define STEPS_MOST  2000
#define STEP_PIXELS 46

/* A bar. If there are too many phases, a bar stands for several and shows the one with the highest
 * peak. */
struct bar {
    size_t count; /* phases */
    enum phase phase;
    bool inferred;
    int64_t step, peak, begin, end;
};

static const struct {
    unsigned end, peak; /* colours */
} colours[PHASE_COUNT] = {
    [PHASE_UNKNOWN] = {0x8C8C8C, 0xDADADA},  [PHASE_OTHER] = {0x8C8C8C, 0xDADADA},
    [PHASE_DATA] = {0x8A73A6, 0xD6CBE2},     [PHASE_FORWARD] = {0x7FB2DD, 0xD3E5F5},
    [PHASE_BACKWARD] = {0x3F7FB5, 0xB9D3E8}, [PHASE_OPTIMIZER] = {0x1F4E79, 0xA9BFD3},
};

static void phase_words(char out[32], enum phase phase)
{
    snprintf(out, 32, "%s", phase_name(phase));
    for (char *c = out; *c; c++)
        *c = *c == '_' ? ' ' : *c;
}

/* Makes one bar for the whole trace if no phases were found. */
static size_t make_bars(const struct device_report *report, struct bar *bars, size_t most)
{
    const struct timeline *timeline = report->timeline;
    const struct phase_rows *rows = &report->phase_rows;
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    if (rows->count == 0) {
        bars[0] = (struct bar){.count = 1,
                               .step = -1,
                               .peak = timeline->active.peak_bytes,
                               .begin = cursor.active,
                               .end = timeline->active.end_bytes};
        return 1;
    }
    size_t joined = (rows->count + most - 1) / most, count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        struct bar *bar = &bars[i / joined];
        if (i % joined == 0) {
            *bar = (struct bar){.begin = cursor.active, .peak = INT64_MIN};
            count++;
        }
        if (row->peak_bytes > bar->peak) {
            bar->peak = row->peak_bytes;
            bar->phase = row->phase;
            bar->inferred = row->inferred;
            bar->step = row->step;
        }
        bar->count++;
        while (cursor.item <= row->last)
            curve_cursor_step(&cursor);
        bar->end = cursor.active;
    }
    return count;
}

static const char *change(char out[UNITS_TEXT_SIZE], int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    snprintf(out, UNITS_TEXT_SIZE, "%s%.40s", bytes > 0 ? "+" : "",
             units_bytes(text, bytes, UNIT_AUTO));
    return out;
}

static void write_bars(FILE *out, const struct bar *bars, size_t count, double unit, bool named)
{
    fputs("# number\tpeak\tat its end\tcolour\tcolour at its end\tname\tpeak in words\tchange\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const struct bar *bar = &bars[i];
        char name[32] = " ", peak[UNITS_TEXT_SIZE] = " ", delta[UNITS_TEXT_SIZE] = " ";
        if (named) {
            phase_words(name, bar->phase);
            units_bytes(peak, bar->peak, UNIT_AUTO);
            change(delta, bar->end - bar->begin);
        }
        fprintf(out, "%zu\t%.7g\t%.7g\t%u\t%u\t%s\t%s\t%s\n", i + 1, (double)bar->peak / unit,
                (double)bar->end / unit, colours[bar->phase].peak, colours[bar->phase].end, name,
                peak, delta);
    }
}

/* Writes the range of bars of each step, and its number if there is room. */
static void write_steps(FILE *out, const struct bar *bars, size_t count, double pixels)
{
    size_t written = 0;
    fputs("# from\tto\tcolour\tname\n", out);
    for (size_t i = 0, first = 0; i < count && written < STEPS_MOST; i++) {
        if (i + 1 < count && bars[i + 1].step == bars[i].step)
            continue;
        char name[UNITS_TEXT_SIZE + 8] = " ";
        double width = (double)(i + 1 - first) * pixels;
        if (bars[i].step >= 0 && width >= STEP_PIXELS)
            snprintf(name, sizeof(name), "step %lld", (long long)bars[i].step);
        fprintf(out, "%.7g\t%.7g\t%u\t%s\n", (double)first + 0.5, (double)i + 1.5,
                bars[i].step < 0 ? 0xF4F4F4
                : written % 2    ? 0xDCE3EA
                                 : 0xE9EEF3,
                name);
        first = i + 1;
        written++;
    }
}

static void put_legend(FILE *script, const struct bar *bars, size_t count, unsigned pixels)
{
    struct plot_legend legend = {0};
    bool used[PHASE_COUNT] = {false};
    for (size_t i = 0; i < count; i++)
        used[bars[i].phase] = true;
    for (size_t phase = PHASE_COUNT; phase-- > 0;) {
        char name[32];
        phase_words(name, (enum phase)phase);
        if (!used[phase])
            continue;
        plot_legend_add(&legend, colours[phase].end, name, ", at its end");
    }
    plot_legend_add(&legend, colours[PHASE_OTHER].peak, "lighter: more at its peak", "");
    plot_legend_put(script, &legend, pixels);
}

static void growth_words(const struct device_report *report, struct buffer *out)
{
    char bytes[UNITS_TEXT_SIZE], sites[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const struct growth *growth = &report->growth;
    if (report->steps.count > 0)
        buffer_printf(out, "%s step%s; ", units_count(count, report->steps.count),
                      report->steps.count == 1 ? "" : "s");
    if (growth->compared < GROWTH_LEAST)
        buffer_puts(out, "too few complete steps to tell what grows");
    else if (growth->bytes_per_step > 0)
        buffer_printf(out,
                      "the memory live at the end of a step grows by %s a step, at %s call site%s",
                      units_bytes(bytes, growth->bytes_per_step, UNIT_AUTO),
                      units_count(sites, growth->growing), growth->growing == 1 ? "" : "s");
    else
        buffer_puts(out, "the memory live at the end of a step does not grow");
}

static void put_titles(FILE *script, const struct plot_snapshot *snapshot,
                       const struct plot_look *look, const struct bar *bars, size_t count)
{
    const struct device_report *report = snapshot->report;
    char text[256], phases[UNITS_TEXT_SIZE], events[UNITS_TEXT_SIZE];
    struct buffer words = BUFFER_INIT;
    size_t all = report->phase_rows.count;
    bool inferred = false;
    for (size_t i = 0; i < count; i++)
        inferred = inferred || bars[i].inferred;
    units_count(events, report->timeline->trace->count);
    if (all == 0)
        snprintf(text, sizeof(text),
                 "%s, %s events: no forward, backward or optimizer step was found in them",
                 DEVICE_WORDS(report->timeline->device), events);
    else
        snprintf(text, sizeof(text), "%s, %s events: %s phases in their order%s%s",
                 DEVICE_WORDS(report->timeline->device), events, units_count(phases, all),
                 count < all ? ", the highest of several as one bar" : "",
                 inferred ? "; some are inferred from lifetimes" : "");
    if (all > 0)
        growth_words(report, &words);
    plot_put_words(script, look, phases_margins, text,
                   words.size && !words.failed ? words.bytes : "");
    buffer_release(&words);
}

/* "step 3, backward", "peak 16.85 GiB", "at its end 1.10 GiB (-15.75 GiB)" */
static void describe(const struct bar *bar, struct buffer *out)
{
    char name[32], bytes[UNITS_TEXT_SIZE], delta[UNITS_TEXT_SIZE];
    phase_words(name, bar->phase);
    buffer_clear(out);
    if (bar->step >= 0)
        buffer_printf(out, "step %lld, ", (long long)bar->step);
    buffer_puts(out, name);
    if (bar->count > 1)
        buffer_printf(out, ", the highest of %zu phases", bar->count);
    buffer_printf(out, "\npeak %s", units_bytes(bytes, bar->peak, UNIT_AUTO));
    buffer_printf(out, "\n%s at its end (%s)", units_bytes(bytes, bar->end, UNIT_AUTO),
                  change(delta, bar->end - bar->begin));
}

/* Notes the titles of the bars at the positions where phases.gp draws them: first all bars up to
 * their peaks, then all up to their ends. The axis ends at `top` bytes, and `wide` is the share of
 * its slot that a bar fills. */
static bool note_titles(FILE *notes, const struct plot_look *look, const struct bar *bars,
                        size_t count, double top, double wide, struct error *err)
{
    const struct plot_margins margins = phases_margins;
    double place = (double)(look->width - margins.left - margins.right) / (double)count;
    double foot = look->height - margins.bottom, high = foot - margins.top;
    struct buffer title = BUFFER_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < 2 * count; i++) {
        const struct bar *bar = &bars[i % count];
        bool at_end = i >= count;
        double middle = margins.left + ((double)(i % count) + 0.5) * place;
        struct svg_box box = {at_end ? colours[bar->phase].end : colours[bar->phase].peak,
                              middle - wide * place / 2, middle + wide * place / 2,
                              foot - (double)(at_end ? bar->end : bar->peak) / top * high, foot};
        describe(bar, &title);
        ok =
            title.failed ? error_out_of_memory(err) : svg_titles_note_box(notes, &box, &title, err);
    }
    buffer_release(&title);
    return ok;
}

static bool write_all(const struct plot_snapshot *snapshot, const struct plot_look *look,
                      const struct bar *bars, size_t count, FILE *const files[], FILE *notes,
                      struct error *err)
{
    const struct plot_margins margins = phases_margins;
    FILE *script = files[PHASES_SCRIPT];
    const char *unit_name;
    double most = 1, pixels = (double)(look->width - margins.left - margins.right) / (double)count;
    for (size_t i = 0; i < count; i++)
        most = (double)bars[i].peak > most ? (double)bars[i].peak : most;
    double unit = plot_unit(most, &unit_name), wide = pixels >= 4 ? 0.86 : 1.0;
    put_titles(script, snapshot, look, bars, count);
    plot_put_margins(script, look, margins);
    fprintf(script,
            "bars = %zu\ny_top = %.7g\ny_label = 'active memory (requested sizes), %s'\n"
            "bar_width = %.2f\n",
            count, most / unit * HEADROOM, unit_name, wide);
    put_legend(script, bars, count, look->height - margins.top - margins.bottom);
    write_bars(files[PHASES_BARS], bars, count, unit, pixels >= NAME_PIXELS);
    write_steps(files[PHASES_STEPS], bars, count, pixels);
    return !notes || note_titles(notes, look, bars, count, most * HEADROOM * STRIP, wide, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    if (!plot_snapshot_report(snapshot, &job->request->report, 1, err))
        return false;
    struct bar *bars = calloc(BARS_MOST + 1, sizeof(*bars));
    if (!bars)
        return error_out_of_memory(err);
    size_t count = make_bars(snapshot->report, bars, BARS_MOST);
    bool ok = write_all(snapshot, &job->request->look, bars, count, job->files, job->notes, err);
    free(bars);
    return ok;
}

const struct plot_kind plot_kind_phases = {
    .name = "phases",
    .summary = "one bar per phase: its peak, and the memory live at its end",
    .files = {"plot.gp", "phase-bars.tsv", "phase-steps.tsv"},
    .templates = {"page.gp", "phases.gp"},
    .of_snapshot = draw,
};
