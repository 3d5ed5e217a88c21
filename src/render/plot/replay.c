#include "analysis/curves/replayed.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/device.h"
#include "render/core/escape.h"
#include "render/plot/kind.h"
#include "render/plot/legend.h"
#include "render/plot/snapshot.h"
#include "render/replay/rows.h"

#define COLOURS_MOST 12
#define HEADROOM     1.08
#define LINE_LETTERS 34 /* letters of a line of the legend */

enum { REPLAY_SCRIPT, REPLAY_ACTIVE, REPLAY_CURVES, REPLAY_PEAKS };

static const struct plot_margins margins = {80, 320, 110, 60, PLOT_TITLES};

/* The first is that of the recorded setting. */
static const unsigned colours[COLOURS_MOST] = {0x000000, 0xD55E00, 0x0072B2, 0x009E73,
                                               0xCC79A7, 0xE69F00, 0x56B4E9, 0x332288,
                                               0x882255, 0x999933, 0x44AA99, 0xAA4499};

/* Nothing is owned. */
struct plot_replay {
    const struct plot_look *look;
    const struct device_replay *replay;
    const struct sampling *sampling;
    const struct replay_curves *curves;
    const struct replay_curve *groups[COLOURS_MOST]; /* curves that differ, highest peak first */
    size_t group_count;
    double x_unit, y_unit;
};

static unsigned colour_of(const struct replay_curve *curve)
{
    return colours[curve->like % COLOURS_MOST];
}

static int by_peak(const void *a, const void *b)
{
    const struct replay_curve *x = *(const struct replay_curve *const *)a;
    const struct replay_curve *y = *(const struct replay_curve *const *)b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void find_groups(struct plot_replay *plot)
{
    for (size_t i = 0; i < plot->curves->count; i++)
        if (plot->curves->items[i].like == i)
            plot->groups[plot->group_count++] = &plot->curves->items[i];
    qsort((void *)plot->groups, plot->group_count, sizeof(plot->groups[0]), by_peak);
}

static double in_unit(const struct plot_replay *plot, int64_t bytes)
{
    return (double)bytes / plot->y_unit;
}

/* The axes reach over all curves and the memory of the device. */
static void put_axes(struct plot_replay *plot, FILE *script)
{
    const struct sampling *sampling = plot->sampling;
    const char *x_name = "allocator event", *y_name;
    double span = sampling->edges[sampling->count] - sampling->edges[0];
    double most = 1, limit = (double)plot->replay->capacity;
    for (size_t c = 0; c < sampling->count; c++)
        most = (double)sampling->active[c] > most ? (double)sampling->active[c] : most;
    for (size_t g = 0; g < plot->group_count; g++)
        most =
            (double)plot->groups[g]->peak_bytes > most ? (double)plot->groups[g]->peak_bytes : most;
    most = limit > most ? limit : most;
    plot->x_unit = sampling->axis == AXIS_TIME ? plot_time_unit(span, &x_name) : 1;
    plot->y_unit = plot_unit(most, &y_name);
    fprintf(script, "x_first = %.9g\nx_last = %.9g\ny_top = %.7g\n",
            sampling->edges[0] / plot->x_unit, sampling->edges[sampling->count] / plot->x_unit,
            HEADROOM * most / plot->y_unit);
    fprintf(script, "x_label = '%s'\ny_label = '%s'\nlimit = %.7g\n", x_name, y_name,
            limit / plot->y_unit);
}

static void put_limit(const struct plot_replay *plot, FILE *script)
{
    const struct device_replay *replay = plot->replay;
    char text[160], capacity[UNITS_TEXT_SIZE], gpu[UNITS_TEXT_SIZE], other[UNITS_TEXT_SIZE];
    units_bytes(capacity, (int64_t)replay->capacity, UNIT_AUTO);
    units_bytes(gpu, (int64_t)replay->options.gpu_bytes, UNIT_AUTO);
    units_bytes(other, (int64_t)replay->options.other_bytes, UNIT_AUTO);
    if (replay->capacity_is_recorded)
        snprintf(text, sizeof(text), "%s: what PyTorch could have when memory ran out", capacity);
    else if (replay->options.other_bytes > 0)
        snprintf(text, sizeof(text), "device: %s, of which PyTorch can have %s", gpu, capacity);
    else
        snprintf(text, sizeof(text), "device: %s", capacity);
    plot_put_text(script, "limit_text", text, PLOT_TEXT);
}

static void put_words(const struct plot_replay *plot, FILE *script)
{
    char words[300], note[200];
    snprintf(words, sizeof(words),
             "%s: reserved memory with each setting, a line and its peak; active memory: grey%s",
             DEVICE_WORDS(plot->replay->timeline->device),
             plot->group_count < plot->curves->count ? "; settings of one colour have the same line"
                                                     : "");
    const char *doubt = replay_doubt(plot->replay->trust);
    if (doubt)
        snprintf(note, sizeof(note), "they only compare settings: %s", doubt);
    else
        snprintf(note, sizeof(note), "%s",
                 plot->replay->trust == TRUST_WHOLE
                     ? "the whole program is recorded: exact, unless the program changes"
                     : "from a cold start; usually within 2% or one segment of the truth");
    plot_put_words(script, plot->look, margins, words, note);
}

/* A setting of the legend: its text, cut at commas into lines; those after the first have a white
 * box. */
static void add_setting(struct plot_legend *legend, const struct replay_setting *row,
                        unsigned colour)
{
    char text[CONF_TEXT_SIZE];
    const char *rest = replay_setting_name(text, row);
    const char *remark = row->is_recorded ? " (recorded)" : "";
    while (strlen(rest) + strlen(remark) > LINE_LETTERS) {
        size_t length = 0;
        for (const char *comma = rest; (comma = strchr(comma, ',')); comma++)
            if (length == 0 || comma + 1 - rest <= LINE_LETTERS)
                length = (size_t)(comma + 1 - rest);
        if (length == 0)
            break;
        char line[CONF_TEXT_SIZE];
        snprintf(line, sizeof(line), "%.*s", (int)length, rest);
        plot_legend_add(legend, colour, line, "");
        rest += length;
        colour = 0xFFFFFF;
    }
    plot_legend_add(legend, colour, rest, remark);
}

/* "51.70 GiB, 5.21 GiB less" than with the recorded setting. */
static void peak_words(const struct plot_replay *plot, const struct replay_curve *group,
                       char out[2 * UNITS_TEXT_SIZE])
{
    char size[UNITS_TEXT_SIZE], than[UNITS_TEXT_SIZE];
    int64_t recorded = plot->curves->items[0].peak_bytes, bytes = group->peak_bytes;
    units_bytes(size, bytes, UNIT_AUTO);
    units_bytes(than, bytes > recorded ? bytes - recorded : recorded - bytes, UNIT_AUTO);
    if (bytes == recorded)
        snprintf(out, 2 * UNITS_TEXT_SIZE, "%s", size);
    else
        snprintf(out, 2 * UNITS_TEXT_SIZE, "%.40s, %.16s %s", size, than,
                 bytes > recorded ? "more" : "less");
}

static void put_legend(const struct plot_replay *plot, FILE *script)
{
    struct plot_legend legend = {0};
    for (size_t g = 0; g < plot->group_count; g++) {
        const struct replay_curve *group = plot->groups[g];
        char words[2 * UNITS_TEXT_SIZE];
        for (size_t i = group->row; i < plot->curves->count; i++)
            if (plot->curves->items[i].like == group->row)
                add_setting(&legend, &plot->replay->rows[i], colour_of(group));
        peak_words(plot, group, words);
        plot_legend_add(&legend, 0xFFFFFF, "", words);
    }
    plot_legend_put(script, &legend, (unsigned)plot_graph_height(plot->look, margins));
}

/* In the text picture a line of its own tells each curve. */
static void put_names(const struct plot_replay *plot, FILE *script)
{
    fprintf(script, "groups = %zu\narray colour[%zu]\narray name[%zu]\n", plot->group_count,
            plot->group_count + 1, plot->group_count + 1);
    for (size_t g = 0; g < plot->group_count; g++) {
        const struct replay_curve *group = plot->groups[g];
        char name[CONF_TEXT_SIZE], text[CONF_TEXT_SIZE + 120], words[2 * UNITS_TEXT_SIZE];
        char variable[40], more[40] = "";
        size_t others = 0;
        for (size_t i = group->row + 1; i < plot->curves->count; i++)
            others += plot->curves->items[i].like == group->row;
        if (others > 0)
            snprintf(more, sizeof(more), " and %zu more", others);
        peak_words(plot, group, words);
        snprintf(text, sizeof(text), "%s%s: %s",
                 replay_setting_name(name, &plot->replay->rows[group->row]), more, words);
        fprintf(script, "colour[%zu] = %u\n", g + 1, colour_of(group));
        if (group->row == 0)
            fprintf(script, "recorded = %zu\n", g + 1);
        snprintf(variable, sizeof(variable), "name[%zu]", g + 1);
        plot_put_text(script, variable, text, PLOT_TEXT);
    }
}

/* Both sides of each column, so that a line is made of steps. */
static void write_curve(const struct plot_replay *plot, const int64_t *bytes, FILE *out)
{
    const struct sampling *sampling = plot->sampling;
    for (size_t c = 0; c < sampling->count; c++)
        for (size_t side = 0; side < 2; side++)
            fprintf(out, "%.9g\t%.7g\n", sampling->edges[c + side] / plot->x_unit,
                    in_unit(plot, bytes[c]));
}

static void write_data(const struct plot_replay *plot, FILE *const files[])
{
    const double *edges = plot->sampling->edges;
    fputs("# where\tactive\n", files[REPLAY_ACTIVE]);
    write_curve(plot, plot->sampling->active, files[REPLAY_ACTIVE]);
    fputs("# where\treserved; a block for each curve\n", files[REPLAY_CURVES]);
    fputs("# where\tpeak\tcolour\n", files[REPLAY_PEAKS]);
    for (size_t g = 0; g < plot->group_count; g++) {
        const struct replay_curve *group = plot->groups[g];
        write_curve(plot, group->reserved, files[REPLAY_CURVES]);
        fputs("\n\n", files[REPLAY_CURVES]);
        fprintf(files[REPLAY_PEAKS], "%.9g\t%.7g\t%u\n",
                (edges[group->peak_column] + edges[group->peak_column + 1]) / 2 / plot->x_unit,
                in_unit(plot, group->peak_bytes), colour_of(group));
    }
}

static bool write_all(struct plot_replay *plot, const struct plot_job *job, struct error *err)
{
    struct replay_curves curves = {0};
    FILE *script = job->files[REPLAY_SCRIPT];
    if (!replay_curves_make(&curves, plot->replay, plot->sampling, err))
        return false;
    plot->curves = &curves;
    find_groups(plot);
    plot_put_margins(script, plot->look, margins);
    put_words(plot, script);
    put_axes(plot, script);
    put_limit(plot, script);
    put_legend(plot, script);
    put_names(plot, script);
    write_data(plot, job->files);
    replay_curves_release(&curves);
    return true;
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct sampling sampling = {0};
    struct device_replay replay;
    if (!device_replay_begin(snapshot->timeline, snapshot->sites, NULL, job->request->replay,
                             &replay, err))
        return false;
    bool ok = (!*replay.obstacle ||
               error_set(err, STATUS_BAD_INPUT, "cannot be replayed: %.190s", replay.obstacle)) &&
              (replay.row_count <= COLOURS_MOST ||
               error_set(err, STATUS_USAGE, "--kind replay has colours for %d settings, not %zu",
                         COLOURS_MOST, replay.row_count)) &&
              sampling_make(&sampling, snapshot->timeline, job->request->axis, PLOT_COLUMNS, err);
    if (ok) {
        struct plot_replay plot = {
            .look = &job->request->look, .replay = &replay, .sampling = &sampling};
        ok = write_all(&plot, job, err);
    }
    sampling_release(&sampling);
    device_replay_release(&replay);
    return ok;
}

const struct plot_kind plot_kind_replay = {
    .name = "replay",
    .summary = "reserved memory with other allocator settings, as in replay",
    .files = {"plot.gp", "active.tsv", "curves.tsv", "peaks.tsv"},
    .templates = {"page.gp", "replay.gp"},
    .in_text = {"text-replay.gp"},
    .needs_segments = true,
    .of_snapshot = draw,
};
