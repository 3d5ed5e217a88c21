#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/plot/timeline_internal.h"

#define LABELS_MOST   200
#define LETTERS_LEAST 12 /* of a label: a size, and the beginning of a name */

static void put_point(FILE *out, const struct plot_scale *scale, double x, double bytes,
                      unsigned colour)
{
    fprintf(out, "%.9g\t%.7g\t%u\n", x / scale->x_unit, bytes / scale->y_unit, colour);
}

/* Along the lower edge and back along the upper one. */
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

/* The widest stretch in which the band does not move. */
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

/* The size and call site of a band, in at most `letters`. */
static bool put_label(const struct plot_timeline *plot, const struct band *band, size_t letters,
                      FILE *out, struct error *err)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer label = BUFFER_INIT, text = BUFFER_INIT;
    bool ok = plot_band_site(plot, band, &label, err);
    units_bytes(size, band->size < INT64_MAX ? (int64_t)band->size : INT64_MAX, UNIT_AUTO);
    buffer_printf(&text, "%s ", size);
    if (ok && letters > text.size)
        escape_plot(&text, label.bytes, label.size, letters - text.size);
    ok = ok && (!text.failed || error_set(err, STATUS_LIMIT, "out of memory"));
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
