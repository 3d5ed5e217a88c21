#include <stdlib.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/iterations_internal.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"
#include "render/plot/text_rows.h"

#define HEADROOM     1.16 /* above the highest bar: its figures */
#define STRIP        1.09 /* how far the axis of iterations.gp goes beyond that: the calls */
#define BARS_MOST    700  /* bars; if there are more, neighbours are joined */
#define WIDE         0.86 /* part of its place that a bar fills */
#define WIDEST       200  /* pixels */
#define LABEL_PIXELS 18   /* height */
/* Width of a bar's place, for the rank below it and the figures above it. */
#define NAME_PIXELS   76
#define LETTER_PIXELS 7.5
#define LETTERS_MOST  60
#define FIGURES       48 /* letters */

enum { ITERATIONS_SCRIPT, ITERATIONS_BARS, ITERATIONS_CALLS, ITERATIONS_TEXT };

static const struct plot_margins margins = {80, 230, 110, 60, PLOT_TITLES};

static const struct {
    unsigned colour;
    char letter;
    const char *name;
} layers[LAYERS] = {
    [LAYER_END] = {0x1F4E79, '=', "allocated at the end"},
    [LAYER_PEAK] = {0x7FB2DD, '+', "peak allocated"},
    [LAYER_RESERVED] = {0xDADADA, '.', "peak reserved"},
};

/* "training_step", or with its iteration, "training_step 2": escaped and cut. */
static bool call_name(const struct iterations *plot, const struct iterations_bar *bar,
                      bool with_iteration, size_t letters, struct buffer *out, struct error *err)
{
    struct text function = symbols_text(plot->report->run->symbols, bar->row->function);
    struct buffer escaped = BUFFER_INIT;
    buffer_clear(out);
    escape_plot(&escaped, function.bytes, function.size, LETTERS_MOST);
    if (with_iteration)
        buffer_printf(&escaped, " %u", bar->row->iteration);
    if (escaped.size > 0)
        text_fit(out, escaped.bytes, escaped.size, letters < 4 ? 4 : letters,
                 with_iteration ? CUT_START : CUT_END);
    else
        buffer_putc(out, ' ');
    bool failed = escaped.failed || out->failed;
    buffer_release(&escaped);
    return !failed || error_out_of_memory(err);
}

/* A layer's size if it has room above the layer below; that of reserved memory stands on top. */
static void label_of(char out[UNITS_TEXT_SIZE], const struct iterations_bar *bar, size_t layer,
                     double pixel_bytes)
{
    int64_t below = layer > 0 ? bar->bytes[layer - 1] : 0, bytes = bar->bytes[layer];
    if (bytes == 0 ||
        (layer < LAYER_RESERVED && (double)(bytes - below) < LABEL_PIXELS * pixel_bytes))
        snprintf(out, UNITS_TEXT_SIZE, " ");
    else
        units_bytes(out, bytes, UNIT_AUTO);
}

static void write_bars(const struct iterations *plot, double unit, bool named)
{
    FILE *out = plot->files[ITERATIONS_BARS];
    double pixel_bytes = plot->most * HEADROOM * STRIP / plot_graph_height(plot->look, margins);
    fputs("# number\tallocated at the end\tpeak allocated\tpeak reserved\tname\tthe same in "
          "words\n",
          out);
    for (size_t i = 0; i < plot->count; i++) {
        const struct iterations_bar *bar = &plot->bars[i];
        char text[LAYERS][UNITS_TEXT_SIZE] = {" ", " ", " "}, name[32] = " ";
        for (size_t layer = 0; named && layer < LAYERS; layer++)
            label_of(text[layer], bar, layer, pixel_bytes);
        if (named)
            snprintf(name, sizeof(name), "rank %u", bar->row->rank);
        fprintf(out, "%zu\t%.7g\t%.7g\t%.7g\t%s\t%s\t%s\t%s\n", i + 1,
                (double)bar->bytes[LAYER_END] / unit, (double)bar->bytes[LAYER_PEAK] / unit,
                (double)bar->bytes[LAYER_RESERVED] / unit, name, text[0], text[1], text[2]);
    }
}

/* A range of bars in one of two strips: the lower has iterations, the upper functions. */
struct span {
    size_t first, end;
    unsigned strip;
    size_t number; /* number of the bar in its strip */
};

static bool write_span(const struct iterations *plot, const struct span *span, double pixels,
                       struct error *err)
{
    const struct iterations_bar *bar = &plot->bars[span->first];
    double room = (double)(span->end - span->first) * pixels / LETTER_PIXELS;
    struct buffer name = BUFFER_INIT;
    bool ok = true;
    if (span->strip == 0)
        buffer_printf(&name, "%u", bar->row->iteration);
    else
        ok = call_name(plot, bar, false, room < LETTERS_MOST ? (size_t)room : LETTERS_MOST, &name,
                       err);
    if (ok && (double)name.size > room)
        buffer_clear(&name);
    if (ok)
        fprintf(plot->files[ITERATIONS_CALLS], "%.7g\t%.7g\t%u\t%u\t%s\n",
                (double)span->first + 0.5, (double)span->end + 0.5, span->strip,
                span->number % 2 ? 0xDCE3EA : 0xE9EEF3, name.size > 0 ? name.bytes : " ");
    ok = ok && (!name.failed || error_out_of_memory(err));
    buffer_release(&name);
    return ok;
}

static bool write_calls(const struct iterations *plot, double pixels, struct error *err)
{
    bool ok = true;
    fputs("# from\tto\tstrip\tcolour\tname\n", plot->files[ITERATIONS_CALLS]);
    for (unsigned strip = 0; strip < 2; strip++) {
        struct span span = {.strip = strip};
        for (size_t i = 0; ok && i < plot->count; i++) {
            const struct run_row *row = plot->bars[i].row, *next = plot->bars[i + 1].row;
            bool same = i + 1 < plot->count && row->function == next->function &&
                        (strip == 1 || row->iteration == next->iteration);
            if (same)
                continue;
            span.end = i + 1;
            ok = write_span(plot, &span, pixels, err);
            span.first = i + 1;
            span.number++;
        }
    }
    return ok;
}

static void put_words(const struct iterations *plot)
{
    const struct run_report *report = plot->report;
    char words[200], note[200];
    size_t retried = 0, failed = 0;
    bool joined = plot->count < report->row_count;
    for (size_t i = 0; i < report->rank_count; i++) {
        retried += report->ranks[i].highest[RUN_RETRIES] > 0;
        failed += report->ranks[i].highest[RUN_OOMS] > 0;
    }
    snprintf(words, sizeof(words), "%zu call%s, %zu rank%s%s", plot->calls,
             plot->calls == 1 ? "" : "s", report->rank_count, report->rank_count == 1 ? "" : "s",
             joined ? "; the highest of several as one bar" : "");
    if (plot->look->format == PLOT_DUMB)
        snprintf(note, sizeof(note), "= allocated at the end, + peak allocated, . peak reserved");
    else if (retried > 0 || failed > 0)
        snprintf(note, sizeof(note), "%zu rank%s had to retry an allocation, %zu ran out of memory",
                 retried, retried == 1 ? "" : "s", failed);
    else
        snprintf(note, sizeof(note), "no rank retried an allocation or ran out of memory");
    plot_put_words(plot->files[ITERATIONS_SCRIPT], plot->look, margins, words, note);
}

/* Part of its place that a bar fills. */
static double bar_share(double pixels)
{
    return WIDE * pixels > WIDEST ? WIDEST / pixels : WIDE;
}

/* Notes the titles of the bars where iterations.gp draws them: all of the highest layer first. */
static bool note_titles(const struct iterations *plot, struct error *err)
{
    double place = plot_graph_width(plot->look, margins) / (double)plot->count;
    double wide = bar_share(place), top = plot->most * HEADROOM * STRIP;
    double foot = plot->look->height - margins.bottom, high = foot - margins.top;
    struct buffer title = BUFFER_INIT;
    bool ok = true;
    for (size_t layer = LAYERS; ok && layer-- > 0;)
        for (size_t i = 0; ok && i < plot->count; i++) {
            double middle = margins.left + ((double)i + 0.5) * place;
            struct svg_box box = {layers[layer].colour, middle - wide * place / 2,
                                  middle + wide * place / 2,
                                  foot - (double)plot->bars[i].bytes[layer] / top * high, foot};
            ok = iterations_describe(plot, &plot->bars[i], &title, err) &&
                 svg_titles_note_box(plot->notes, &box, &title, err);
        }
    buffer_release(&title);
    return ok;
}

static bool draw_graph(const struct iterations *plot, struct error *err)
{
    FILE *script = plot->files[ITERATIONS_SCRIPT];
    struct plot_legend legend = {0};
    const char *unit_name;
    double unit = plot_unit(plot->most, &unit_name);
    double pixels = plot_graph_width(plot->look, margins) / (double)plot->count;
    for (size_t i = LAYERS; i-- > 0;)
        plot_legend_add(&legend, layers[i].colour, layers[i].name, "");
    plot_put_margins(script, plot->look, margins);
    plot_legend_put(script, &legend, plot->look->height - margins.top - margins.bottom);
    fprintf(script, "bars = %zu\ny_top = %.7g\ny_label = 'memory of the device, %s'\n", plot->count,
            plot->most / unit * HEADROOM, unit_name);
    fprintf(script, "bar_width = %.4f\narray layer_colour[3]\n", bar_share(pixels));
    for (size_t i = 0; i < LAYERS; i++)
        fprintf(script, "layer_colour[%zu] = %u\n", i + 1, layers[i].colour);
    write_bars(plot, unit, pixels >= NAME_PIXELS);
    return write_calls(plot, pixels, err) && (!plot->notes || note_titles(plot, err));
}

static bool draw_text(const struct iterations *plot, struct error *err)
{
    struct plot_text_rows rows;
    struct buffer name = BUFFER_INIT;
    size_t room = plot_text_rows_letters(plot->look);
    bool ok = true;
    plot_text_rows_begin(&rows, plot->files[ITERATIONS_SCRIPT], plot->files[ITERATIONS_TEXT],
                         plot->look, plot->most, FIGURES);
    for (size_t i = 0; ok && i < plot->count; i++) {
        const struct iterations_bar *bar = &plot->bars[i];
        double parts[LAYERS], sum = 0;
        char letters[LAYERS], figures[4 * UNITS_TEXT_SIZE], text[LAYERS][UNITS_TEXT_SIZE];
        for (size_t layer = 0; layer < LAYERS; layer++) {
            double bytes = (double)bar->bytes[layer];
            parts[layer] = bytes > sum ? bytes - sum : 0;
            sum += parts[layer];
            letters[layer] = layers[layer].letter;
            units_bytes(text[layer], bar->bytes[layer], UNIT_AUTO);
        }
        snprintf(figures, sizeof(figures), "%s = %s + %s .", text[0], text[1], text[2]);
        ok = call_name(plot, bar, true, room > 20 ? room - 12 : 8, &name, err);
        buffer_printf(&name, ", rank %u", bar->row->rank);
        ok = ok && (!name.failed || error_out_of_memory(err));
        if (ok)
            plot_text_rows_add(&rows, 0, name.bytes, parts, letters, LAYERS, figures);
    }
    buffer_release(&name);
    return ok;
}

static bool draw(const struct plot_job *job, const struct run_report *report, struct error *err)
{
    struct iterations plot = {.report = report,
                              .look = &job->request->look,
                              .files = job->files,
                              .notes = job->notes,
                              .most = 1};
    bool is_text = plot.look->format == PLOT_DUMB;
    if (report->row_count == 0)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: no statistics of any call");
    bool ok =
        iterations_make_bars(&plot, is_text ? plot_text_rows_room(plot.look) : BARS_MOST, err);
    if (ok) {
        put_words(&plot);
        ok = is_text ? draw_text(&plot, err) : draw_graph(&plot, err);
    }
    free(plot.bars);
    return ok;
}

const struct plot_kind plot_kind_iterations = {
    .name = "iterations",
    .summary = "memory of a MemProfiler run: each call, rank by rank",
    .files = {"plot.gp", "bars.tsv", "calls.tsv", "text.tsv"},
    .templates = {"page.gp", "iterations.gp"},
    .in_text = {"text-rows.gp"},
    .of_run = draw,
};
