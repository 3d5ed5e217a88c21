#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/plot/timeline_internal.h"

#define LABELS_MOST   200
#define LETTERS_LEAST 12 /* letters of a label: a size and the beginning of a name */

static void put_point(FILE *out, const struct plot_scale *scale, double x, double bytes,
                      unsigned colour)
{
    fprintf(out, "%.9g\t%.7g\t%u\n", x / scale->x_unit, bytes / scale->y_unit, colour);
}

/* Writes the outline: along the lower edge and back along the upper one. */
static void write_band(const struct plot_timeline *plot, const struct plot_scale *scale, size_t b,
                       unsigned colour, FILE *out)
{
    const struct band *band = &plot->bands->items[b];
    const struct band_run *runs = plot->shapes->runs + plot->shapes->first[b];
    size_t count = plot->shapes->first[b + 1] - plot->shapes->first[b];
    const double *edges = plot->time.sampling->edges;
    double size = (double)band->size;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = i + 1 < count ? runs[i + 1].column : band->end;
        put_point(out, scale, edges[runs[i].column], runs[i].low, colour);
        put_point(out, scale, edges[end], runs[i].low, colour);
    }
    for (size_t i = count; i-- > 0;) {
        uint32_t end = i + 1 < count ? runs[i + 1].column : band->end;
        put_point(out, scale, edges[end], runs[i].low + size, colour);
        put_point(out, scale, edges[runs[i].column], runs[i].low + size, colour);
    }
    fputc('\n', out);
}

void plot_bands_write(FILE *out, const struct plot_timeline *plot, const struct plot_scale *scale,
                      const unsigned *colours)
{
    fputs("# where\tmemory\tcolour; a shape an allocation\n", out);
    for (size_t b = 0; b < plot->bands->count; b++)
        write_band(plot, scale, b, colours[b], out);
}

/* The longest range of columns in which the band does not move. */
static void widest(const struct plot_timeline *plot, size_t b, size_t *from, size_t *to,
                   double *low)
{
    const struct band_run *runs = plot->shapes->runs + plot->shapes->first[b];
    size_t count = plot->shapes->first[b + 1] - plot->shapes->first[b];
    const double *edges = plot->time.sampling->edges;
    *from = *to = 0;
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 1 < count ? runs[i + 1].column : plot->bands->items[b].end;
        if (edges[end] - edges[runs[i].column] > edges[*to] - edges[*from]) {
            *from = runs[i].column;
            *to = end;
            *low = runs[i].low;
        }
    }
}

/* The size, call site and annotations of a band, in at most `letters`. */
static bool put_label(const struct plot_timeline *plot, const struct band *band, size_t letters,
                      FILE *out, struct error *err)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer label = BUFFER_INIT, text = BUFFER_INIT;
    bool ok = plot_band_site(plot, band, &label, err) &&
              plot_band_annotation(plot, band, ", ", &label, err);
    units_bytes(size, band->size < INT64_MAX ? (int64_t)band->size : INT64_MAX, UNIT_AUTO);
    buffer_printf(&text, "%s ", size);
    if (ok && letters > text.size)
        escape_plot(&text, label.bytes, label.size, letters - text.size);
    ok = ok && (!text.failed || error_out_of_memory(err));
    if (ok)
        fputs(text.bytes, out);
    buffer_release(&label);
    buffer_release(&text);
    return ok;
}

bool plot_band_labels_write(FILE *out, const struct plot_timeline *plot,
                            const struct plot_scale *scale, const unsigned *colours,
                            struct error *err)
{
    size_t written = 0;
    fputs("# where\tmemory\ttext\tcolour\n", out);
    for (size_t b = 0; b < plot->bands->count && written < LABELS_MOST; b++) {
        const struct band *band = &plot->bands->items[b];
        size_t from, to;
        double low = 0, height = (double)band->size / scale->y_unit;
        if (height < PLOT_TEXT_LINES * scale->pixel_y)
            continue;
        widest(plot, b, &from, &to, &low);
        double x = plot_time_x(&plot->time, scale, from);
        double letters =
            (plot_time_x(&plot->time, scale, to) - x) / scale->pixel_x / PLOT_CHARACTER - 2;
        if (letters < LETTERS_LEAST)
            continue;
        fprintf(out, "%.9g\t%.7g\t", x + PLOT_CHARACTER * scale->pixel_x * 0.7,
                low / scale->y_unit + height / 2);
        if (!put_label(plot, band, (size_t)letters, out, err))
            return false;
        fprintf(out, "\t%u\n", plot_text_colour(colours[b]));
        written++;
    }
    return true;
}

/* Makes the curves of the memory that has no band. */
static bool make_curves(const struct plot_timeline *plot, const struct plot_groups *groups,
                        struct category_curves *curves, struct error *err)
{
    if (!group_curves_make(curves, plot->time.timeline, groups->of_lifetime, groups->of_preexisting,
                           plot->time.sampling, err))
        return false;
    for (size_t b = 0; b < plot->bands->count; b++) {
        const struct band *band = &plot->bands->items[b];
        group_curves_subtract(curves, plot_group_of(groups, band), band->size, band->begin,
                              band->end);
    }
    return true;
}

static bool is_shown(const struct category_curves *curves, size_t group)
{
    const double *curve = category_curve(curves, group);
    for (size_t c = 0; c < curves->columns; c++)
        if (curve[c] > 0)
            return true;
    return false;
}

static void add_keys(const struct plot_timeline *plot, const struct plot_groups *groups,
                     const struct category_curves *curves, struct plot_legend *legend)
{
    bool used[CATEGORY_LIMIT] = {false};
    for (size_t b = 0; b < plot->bands->count; b++)
        used[plot_group_of(groups, &plot->bands->items[b])] = true;
    for (size_t i = CATEGORY_LIMIT; i-- > 0;) {
        size_t group = groups->order[i];
        if (groups->name[group] && (used[group] || is_shown(curves, group)))
            plot_legend_add(legend, groups->colour[group], groups->name[group], "");
    }
}

/* Each area reaches from 0 to its upper edge, so the highest is drawn first, and the bands on top
 * of all areas. */
static void write_areas(const struct plot_timeline *plot, const struct plot_scale *scale,
                        const struct category_curves *curves, const uint8_t *shown, size_t count,
                        FILE *out)
{
    const struct sampling *sampling = plot->time.sampling;
    fputs("# where\tup to each, from the highest\n", out);
    for (size_t c = 0; c < sampling->count; c++)
        for (size_t side = 0; side < 2; side++) {
            double top = (double)sampling->active[c];
            fprintf(out, "%.9g", sampling->edges[c + side] / scale->x_unit);
            for (size_t i = 0; i < count; i++) {
                fprintf(out, "\t%.7g", top / scale->y_unit);
                top -= category_curve(curves, shown[i])[c];
            }
            fputc('\n', out);
        }
}

bool plot_rest_write(const struct plot_timeline *plot, const struct plot_scale *scale,
                     const struct plot_groups *groups, struct plot_legend *legend, FILE *script,
                     FILE *out, struct error *err)
{
    struct category_curves curves = {0};
    uint8_t shown[CATEGORY_LIMIT];
    size_t count = 0;
    if (!make_curves(plot, groups, &curves, err))
        return false;
    for (size_t i = CATEGORY_LIMIT; i-- > 0;)
        if (is_shown(&curves, groups->order[i]))
            shown[count++] = groups->order[i];
    if (count == 0) /* gnuplot wants something to draw */
        shown[count++] = CATEGORY_COUNT;
    add_keys(plot, groups, &curves, legend);
    fprintf(script, "rests = %zu\narray rest_colour[%zu]\n", count, count + 1);
    for (size_t i = 0; i < count; i++)
        fprintf(script, "rest_colour[%zu] = 0x%06X\n", i + 1,
                plot_shade(groups->colour[shown[i]], 2));
    write_areas(plot, scale, &curves, shown, count, out);
    category_curves_release(&curves);
    return true;
}
