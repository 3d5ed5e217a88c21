#include "model/fit.h"

#include <inttypes.h>

#include "analysis/fit/summary.h"
#include "base/units.h"
#include "render/plot/kind.h"
#include "render/plot/legend.h"

#define LABEL_LINE  17  /* pixels */
#define LABEL_WIDTH 260 /* about */
#define TURN        0.7 /* part of the axis beyond which labels stand left of their points */
#define COLOURS     8
#define GPUS_MOST   24  /* GPUs for which the picture has room */
#define SPARE       1.5 /* end of the y axis, as a multiple of the needed memory */
#define LOW_LINES   2.7 /* above the x axis, below which labels stand above their points */

static const struct plot_margins margins = {90, 260, 110, 60, PLOT_TITLES};

static const unsigned colours[COLOURS] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                          0x56B4E9, 0xE69F00, 0x332288, 0x882255};

enum { FIT_SCRIPT, FIT_CURVES, FIT_LIMITS, FIT_FAILURES, FIT_LARGEST };

/* Nothing is owned. */
struct plot_fit {
    const struct plot_look *look;
    const struct fit *fit;
    size_t gpus;
    double x_last, y_top, unit;
    double line;    /* the height of a label */
    double shown;   /* bytes; GPUs with more memory have a label, but no line */
    size_t unshown; /* number of those GPUs */
    const char *unit_name;
};

static unsigned colour_of(size_t gpu)
{
    return colours[gpu % COLOURS];
}

static double most_reserved(const struct fit_gpu *gpu)
{
    double most = 0;
    for (const struct fit_run *run = gpu->runs; run < gpu->runs + gpu->run_count; run++)
        if (run->has_peaks && (double)run->reserved_bytes > most)
            most = (double)run->reserved_bytes;
    return most;
}

/* The memory of the GPUs that ran out of it, or that any run reserved. */
static double needed_memory(const struct plot_fit *plot, double *last)
{
    double needed = 1;
    *last = 1;
    for (size_t i = 0; i < plot->gpus; i++) {
        const struct fit_gpu *gpu = &plot->fit->gpus[i];
        struct fit_summary summary;
        fit_summarize(gpu, &summary);
        const struct fit_run *end = summary.limit ? summary.limit : summary.largest;
        double value = end ? (double)end->value : 0;
        double used = summary.limit ? (double)fit_available(gpu) : most_reserved(gpu);
        needed = used > needed ? used : needed;
        *last = value > *last ? value : *last;
    }
    return needed;
}

/* The axes: all that fits, the first values beyond, and the memory of the GPUs. GPUs with much
 * more memory than any run needed would flatten the curves: only their labels are shown.
 */
static void scale(struct plot_fit *plot)
{
    double last, most = needed_memory(plot, &last), height = plot_graph_height(plot->look, margins);
    plot->shown = SPARE * most;
    for (size_t i = 0; i < plot->gpus; i++) {
        double memory = (double)fit_available(&plot->fit->gpus[i]);
        if (memory > plot->shown)
            plot->unshown++;
        else if (memory > most)
            most = memory;
    }
    plot->unit = plot_unit(most, &plot->unit_name);
    plot->x_last = last * 1.05;
    plot->y_top = most / plot->unit * (1.12 + (double)plot->unshown * LABEL_LINE / height);
    plot->line = LABEL_LINE * plot->y_top / height;
}

static void put_label(FILE *script, const char *array, size_t index, const char *text)
{
    char variable[40];
    snprintf(variable, sizeof(variable), "%s[%zu]", array, index + 1);
    plot_put_text(script, variable, text, PLOT_TEXT);
}

/* gnuplot complains of files without points. This one lies outside of the graph. */
static void put_hidden(FILE *out)
{
    fputs("-1\t-1\t-1\t0\n", out);
}

/* Runs that fit, a block for each GPU that has one. */
static void write_curves(const struct plot_fit *plot, FILE *script, FILE *out)
{
    size_t count = 0;
    fprintf(script, "array colour[%zu]\narray name[%zu]\n", plot->gpus + 1, plot->gpus + 1);
    fputs("# value\tpeak active\tpeak reserved; a block for each GPU\n", out);
    for (size_t i = 0; i < plot->gpus; i++) {
        const struct fit_gpu *gpu = &plot->fit->gpus[i];
        size_t points = 0;
        for (const struct fit_run *run = gpu->runs; run < gpu->runs + gpu->run_count; run++)
            if (run->result == FIT_FITS && run->has_peaks) {
                fprintf(out, "%" PRIu64 "\t%.9g\t%.9g\n", run->value,
                        (double)run->active_bytes / plot->unit,
                        (double)run->reserved_bytes / plot->unit);
                points++;
            }
        if (points == 0)
            continue;
        fputs("\n\n", out);
        fprintf(script, "colour[%zu] = %u\n", count + 1, colour_of(i));
        put_label(script, "name", count++, gpu->name);
    }
    if (count == 0) {
        fputs("colour[1] = 0\nname[1] = ''\n", script);
        put_hidden(out);
    }
    fprintf(script, "curves = %zu\n", count > 0 ? count : 1);
}

/* Runs that do not fit are crosses on the line of the GPU's memory. */
static void write_failures(const struct plot_fit *plot, FILE *out)
{
    fputs("# value\tmemory\tcolour\n", out);
    for (size_t i = 0; i < plot->gpus; i++) {
        const struct fit_gpu *gpu = &plot->fit->gpus[i];
        for (const struct fit_run *run = gpu->runs; run < gpu->runs + gpu->run_count; run++)
            if (run->result != FIT_FITS && (double)run->value <= plot->x_last)
                fprintf(out, "%" PRIu64 "\t%.9g\t%u\n", run->value,
                        (double)fit_available(gpu) / plot->unit, colour_of(i));
    }
    put_hidden(out);
}

/* The memory of each GPU: a line with a label right of the graph. Labels of GPUs with more memory
 * stand below the end of the y axis, and say so.
 */
static void write_limits(const struct plot_fit *plot, FILE *script, FILE *out)
{
    struct plot_label labels[GPUS_MOST];
    double end = 0.999 * plot->y_top - (double)plot->unshown * plot->line;
    for (size_t i = 0; i < plot->gpus; i++) {
        double memory = (double)fit_available(&plot->fit->gpus[i]);
        labels[i] = (struct plot_label){
            .of = i, .x = plot->x_last, .y = memory > plot->shown ? end : memory / plot->unit};
    }
    plot_spread(labels, plot->gpus, plot->line, plot->x_last);
    fprintf(script, "gpus = %zu\narray limit_text[%zu]\n", plot->gpus, plot->gpus);
    fputs("# from\tto\tmemory\theight of the label\tcolour\n", out);
    for (size_t i = 0; i < plot->gpus; i++) {
        const struct fit_gpu *gpu = &plot->fit->gpus[labels[i].of];
        char text[PLOT_TEXT + 1], size[UNITS_TEXT_SIZE];
        units_bytes(size, (int64_t)fit_available(gpu), UNIT_AUTO);
        bool is_above = (double)fit_available(gpu) > plot->shown;
        snprintf(text, sizeof(text), "%.50s: %s%s", gpu->name, size,
                 is_above ? ", above the graph" : "");
        put_label(script, "limit_text", i, text);
        fprintf(out, "%.9g\t%.9g\t%.9g\t%.9g\t%u\n", is_above ? plot->x_last : 0, plot->x_last,
                labels[i].y, labels[i].at, colour_of(labels[i].of));
    }
}

enum side { SIDE_LEFT, SIDE_BELOW, SIDE_ABOVE };

/* Curves rise to the right: labels stand left of points near the end of the x axis, else below
 * them on the right, or above them where the x axis is too near.
 */
static enum side side_of(const struct plot_fit *plot, const struct plot_label *label)
{
    if (label->x > TURN * plot->x_last)
        return SIDE_LEFT;
    return label->at < LOW_LINES * plot->line ? SIDE_ABOVE : SIDE_BELOW;
}

/* The labels on one side of their points, as a list of numbers. */
static void put_side(const struct plot_fit *plot, FILE *script, const char *name,
                     const struct plot_label *labels, size_t count, enum side side)
{
    fprintf(script, "%s = '", name);
    for (size_t i = 0; i < count; i++)
        if (side_of(plot, &labels[i]) == side)
            fprintf(script, "%zu ", i + 1);
    fprintf(script, "%zu'\n", count + 1); /* the hidden point: gnuplot needs one in each list */
}

static void write_largest(const struct plot_fit *plot, FILE *script, FILE *out)
{
    struct plot_label labels[GPUS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < plot->gpus; i++) {
        struct fit_summary summary;
        fit_summarize(&plot->fit->gpus[i], &summary);
        if (summary.largest && summary.largest->has_peaks)
            labels[count++] =
                (struct plot_label){.of = i,
                                    .x = (double)summary.largest->value,
                                    .y = (double)summary.largest->reserved_bytes / plot->unit};
    }
    plot_spread(labels, count, plot->line,
                LABEL_WIDTH * plot->x_last / plot_graph_width(plot->look, margins));
    fprintf(script, "fitting = %zu\narray largest_text[%zu]\nlargest_text[%zu] = ''\n", count,
            count + 1, count + 1);
    put_side(plot, script, "labels_below", labels, count, SIDE_BELOW);
    put_side(plot, script, "labels_above", labels, count, SIDE_ABOVE);
    put_side(plot, script, "labels_left", labels, count, SIDE_LEFT);
    fputs("# value\tpeak reserved\theight of the label\tcolour\n", out);
    for (size_t i = 0; i < count; i++) {
        char text[PLOT_TEXT + 1];
        snprintf(text, sizeof(text), "%.40s: %.40s = %.0f fits", plot->fit->gpus[labels[i].of].name,
                 plot->fit->variable, labels[i].x);
        put_label(script, "largest_text", i, text);
        fprintf(out, "%.17g\t%.9g\t%.9g\t%u\n", labels[i].x, labels[i].y, labels[i].at,
                colour_of(labels[i].of));
    }
    put_hidden(out);
}

static void put_words(const struct plot_fit *plot, FILE *script)
{
    char subtitle[PLOT_TEXT * 4];
    size_t used = 0;
    for (size_t i = 0; i < plot->fit->command_count && used < sizeof(subtitle) - 1; i++) {
        int size = snprintf(subtitle + used, sizeof(subtitle) - used, "%s%s", i ? " " : "",
                            plot->fit->command[i]);
        used += size > 0 ? (size_t)size : 0;
    }
    if (plot->fit->command_count == 0)
        subtitle[0] = '\0';
    plot_put_words(script, plot->look, margins, subtitle,
                   "solid: peak active; dashed: peak reserved; crosses: values that do not fit");
}

static bool draw(const struct plot_job *job, const struct fit *fit, struct error *err)
{
    struct plot_fit plot = {.look = &job->request->look, .fit = fit, .gpus = fit->gpu_count};
    FILE *script = job->files[FIT_SCRIPT];
    if (plot.gpus > GPUS_MOST)
        return error_set(err, STATUS_LIMIT, "more than %d GPUs to plot", GPUS_MOST);
    scale(&plot);
    plot_put_margins(script, plot.look, margins);
    put_words(&plot, script);
    fprintf(script, "x_last = %.9g\ny_top = %.9g\ny_label = 'peak memory, %s'\n", plot.x_last,
            plot.y_top, plot.unit_name);
    plot_put_text(script, "x_label", fit->variable, PLOT_TEXT);
    write_curves(&plot, script, job->files[FIT_CURVES]);
    write_limits(&plot, script, job->files[FIT_LIMITS]);
    write_failures(&plot, job->files[FIT_FAILURES]);
    write_largest(&plot, script, job->files[FIT_LARGEST]);
    return true;
}

const struct plot_kind plot_kind_fit = {
    .name = "fit",
    .summary = "peaks against the values that dryrun --fit tried",
    .files = {"plot.gp", "curves.tsv", "limits.tsv", "failures.tsv", "largest.tsv"},
    .templates = {"page.gp", "fit.gp"},
    .in_text = {"text-fit.gp"},
    .of_fit = draw,
};
