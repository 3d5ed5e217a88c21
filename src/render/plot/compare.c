#include "render/plot/compare.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/legend.h"
#include "render/plot/time.h"

#define NAME_BYTES   2000 /* longer names are cut */
#define NAME_LETTERS 30   /* letters of the name in the legend */
#define LABEL_LINE   17   /* pixels */
#define LABEL_WIDTH  230  /* about */
#define PEAK_TEXT    (2 * UNITS_TEXT_SIZE + 16)

enum { COMPARE_SCRIPT, COMPARE_CURVES, COMPARE_PEAKS };

static const struct plot_margins margins = {80, 340, 110, 60, PLOT_TITLES};

static const unsigned colours[PLOT_COMPARED] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                0x56B4E9, 0xE69F00, 0x332288, 0x882255};

/* The axes. Values in the data files are divided by the units. */
struct scale {
    double x_unit, x_last, y_unit, y_top;
    const char *y_name;
};

/* Length of the longest common prefix of all paths that ends in a slash. */
static size_t common_folder(const struct plot_comparison *plot)
{
    const char *first = plot->curves[0].path;
    size_t common = 0;
    for (size_t i = 0; first[i]; i++) {
        for (size_t k = 1; k < plot->count; k++)
            if (plot->curves[k].path[i] != first[i])
                return common;
        if (first[i] == '/')
            common = i + 1;
    }
    return common;
}

static double span_of(const struct plot_curve *curve)
{
    return curve->edges[curve->columns] - curve->edges[0];
}

/* Position of an edge on the axis. */
static double place(const struct plot_comparison *plot, const struct scale *scale,
                    const struct plot_curve *curve, double edge)
{
    double from_start = edge - curve->edges[0], span = span_of(curve);
    if (plot->share)
        return span > 0 ? 100 * from_start / span : 0;
    return from_start / scale->x_unit;
}

static struct scale make_scale(const struct plot_comparison *plot, FILE *script)
{
    struct scale scale = {.x_unit = 1, .x_last = 100};
    double most = 1, span = 0;
    for (size_t k = 0; k < plot->count; k++) {
        const struct plot_curve *curve = &plot->curves[k];
        span = span_of(curve) > span ? span_of(curve) : span;
        for (size_t c = 0; c < curve->columns; c++) {
            most = (double)curve->bytes[c] > most ? (double)curve->bytes[c] : most;
            most = (double)curve->reserved[c] > most ? (double)curve->reserved[c] : most;
        }
    }
    const char *unit = plot->items;
    if (plot->share) {
        fputs("x_label = 'share of each trace, %'\n", script);
    } else {
        if (plot->time)
            scale.x_unit = plot_time_unit(span, &unit);
        scale.x_last = span > 0 ? span / scale.x_unit : 1;
        fprintf(script, "x_label = '%s%s'\n", unit, plot->time ? " of each" : "");
    }
    scale.y_unit = plot_unit(most, &scale.y_name);
    scale.y_top = most / scale.y_unit * (1.06 + 0.03 * (double)plot->count);
    fprintf(script, "x_last = %.9g\ny_top = %.9g\ny_label = '%s, %s'\n", scale.x_last, scale.y_top,
            plot->in_use, scale.y_name);
    fprintf(script, "x_turn = %.9g\n",
            scale.x_last * (1 - LABEL_WIDTH / plot_graph_width(plot->look, margins)));
    return scale;
}

static void write_curves(const struct plot_comparison *plot, const struct scale *scale, FILE *out)
{
    fputs("# where\tin use\treserved; a block a file\n", out);
    for (size_t k = 0; k < plot->count; k++) {
        const struct plot_curve *curve = &plot->curves[k];
        for (size_t c = 0; c < curve->columns; c++)
            for (size_t side = 0; side < 2; side++)
                fprintf(out, "%.9g\t%.7g\t%.7g\n",
                        place(plot, scale, curve, curve->edges[c + side]),
                        c < curve->unknown ? NAN : (double)curve->bytes[c] / scale->y_unit,
                        (double)curve->reserved[c] / scale->y_unit);
        fputs("\n\n", out);
    }
}

static void place_labels(const struct plot_comparison *plot, const struct scale *scale,
                         struct plot_label *labels)
{
    for (size_t k = 0; k < plot->count; k++) {
        const struct plot_curve *curve = &plot->curves[k];
        double x = (place(plot, scale, curve, curve->edges[curve->peak_column]) +
                    place(plot, scale, curve, curve->edges[curve->peak_column + 1])) /
                   2;
        labels[k] =
            (struct plot_label){.of = k, .x = x, .y = (double)curve->peak_bytes / scale->y_unit};
    }
    plot_spread(labels, plot->count,
                LABEL_LINE * scale->y_top / plot_graph_height(plot->look, margins),
                2 * LABEL_WIDTH * scale->x_last / plot_graph_width(plot->look, margins));
}

/* "11.57 GiB", and how much more or less than the first. */
static void peak_text(const struct plot_comparison *plot, size_t k, char out[PEAK_TEXT])
{
    char size[UNITS_TEXT_SIZE], than[UNITS_TEXT_SIZE];
    int64_t first = plot->curves[0].peak_bytes, bytes = plot->curves[k].peak_bytes;
    units_bytes(size, bytes, UNIT_AUTO);
    units_bytes(than, bytes > first ? bytes - first : first - bytes, UNIT_AUTO);
    if (k == 0)
        snprintf(out, PEAK_TEXT, "%s", size);
    else if (bytes == first)
        snprintf(out, PEAK_TEXT, "%s, the same", size);
    else
        snprintf(out, PEAK_TEXT, "%s, %s %s", size, than, bytes > first ? "more" : "less");
}

static void write_peaks(const struct plot_comparison *plot, const struct scale *scale, FILE *out)
{
    struct plot_label labels[PLOT_COMPARED];
    place_labels(plot, scale, labels);
    fputs("# where\tpeak\theight of its label\ttext\tcolour\n", out);
    for (size_t i = 0; i < plot->count; i++) {
        char text[PEAK_TEXT];
        peak_text(plot, labels[i].of, text);
        fprintf(out, "%.9g\t%.7g\t%.7g\t%s\t%u\n", labels[i].x, labels[i].y, labels[i].at, text,
                colours[labels[i].of]);
    }
}

/* The name shown in the legend. The end of a path says more than its beginning. */
static bool put_name(const struct plot_comparison *plot, size_t k, size_t common, FILE *script,
                     struct error *err)
{
    struct buffer escaped = BUFFER_INIT, name = BUFFER_INIT;
    char peak[PEAK_TEXT], bytes[UNITS_TEXT_SIZE];
    const char *path = plot->curves[k].path + common;
    size_t size = strlen(path);
    const char *tail = size > NAME_BYTES ? path + size - NAME_BYTES : path;
    peak_text(plot, k, peak);
    escape_plot(&escaped, tail, strlen(tail), NAME_BYTES);
    if (escaped.size > 0)
        text_fit(&name, escaped.bytes, escaped.size, NAME_LETTERS, CUT_START);
    bool ok = (!escaped.failed && !name.failed) || error_out_of_memory(err);
    if (ok)
        fprintf(script,
                "name[%zu] = '%s'; peak[%zu] = '%s'; size[%zu] = '%s'; colour[%zu] = 0x%06X\n",
                k + 1, name.size > 0 ? name.bytes : "", k + 1, peak, k + 1,
                units_bytes(bytes, plot->curves[k].peak_bytes, UNIT_AUTO), k + 1, colours[k]);
    buffer_release(&escaped);
    buffer_release(&name);
    return ok;
}

static bool write_all(const struct plot_comparison *plot, FILE *const files[], struct error *err)
{
    FILE *script = files[COMPARE_SCRIPT];
    size_t common = common_folder(plot);
    char words[160];
    plot_put_margins(script, plot->look, margins);
    snprintf(words, sizeof(words), "%s: a solid line; reserved: a dashed one; the number: the peak",
             plot->in_use);
    plot_put_words(script, plot->look, margins, words, "more and less: than the first file's");
    struct scale scale = make_scale(plot, script);
    fprintf(script,
            "files = %zu\narray name[%zu]\narray peak[%zu]\narray size[%zu]\narray colour[%zu]\n",
            plot->count, plot->count + 1, plot->count + 1, plot->count + 1, plot->count + 1);
    bool ok = true;
    for (size_t k = 0; ok && k < plot->count; k++)
        ok = put_name(plot, k, common, script, err);
    write_curves(plot, &scale, files[COMPARE_CURVES]);
    write_peaks(plot, &scale, files[COMPARE_PEAKS]);
    return ok;
}

static bool draw(const struct plot_job *job, const struct plot_comparison *comparison,
                 struct error *err)
{
    return write_all(comparison, job->files, err);
}

const struct plot_kind plot_kind_compare = {
    .name = "compare",
    .summary = "two to eight files on one axis: active and reserved memory",
    .files = {"plot.gp", "curves.tsv", "peaks.tsv"},
    .templates = {"page.gp", "compare.gp"},
    .in_text = {"text-compare.gp"},
    .of_several = draw,
};
