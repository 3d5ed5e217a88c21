#include <string.h>

#include "base/units.h"
#include "render/escape.h"
#include "render/plot_parts.h"

#define PHASES_MOST   1000
#define LABELS_MOST   200
#define LETTERS_LEAST 12 /* of a label: a size, and the beginning of a name */
#define STRIP_PIXEL   1  /* phases that are narrower are left out */

void plot_curves_write(const struct plot *plot, const struct plot_scale *scale, FILE *out)
{
    const struct sampling *s = plot->sampling;
    fputs("# where\tactive\treserved\n", out);
    for (size_t c = 0; c < s->count; c++)
        for (size_t side = 0; side < 2; side++)
            fprintf(out, "%.9g\t%.7g\t%.7g\n", s->edges[c + side] / scale->x_unit,
                    (double)s->active[c] / scale->y_unit, (double)s->reserved[c] / scale->y_unit);
}

static void put_point(FILE *out, const struct plot_scale *scale, double x, double bytes,
                      unsigned colour)
{
    fprintf(out, "%.9g\t%.7g\t%u\n", x / scale->x_unit, bytes / scale->y_unit, colour);
}

/* Along the lower edge and back along the upper one. */
static void write_band(const struct plot *plot, const struct plot_scale *scale, size_t b,
                       unsigned colour, FILE *out)
{
    const struct band *band = &plot->bands->items[b];
    const struct band_run *runs = plot->shapes->runs + plot->shapes->first[b];
    size_t count = plot->shapes->first[b + 1] - plot->shapes->first[b];
    const double *edges = plot->sampling->edges;
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

static void write_categories(const struct plot *plot, const struct plot_scale *scale, FILE *out)
{
    uint8_t shown[CATEGORY_LIMIT];
    size_t count = plot_categories_shown(plot, shown);
    fputs("# where\t0", out);
    for (size_t i = 0; i < count; i++) { /* a name may be the user's own */
        fputc('\t', out);
        fprintf(out, "up to category %zu", i + 1);
    }
    fputc('\n', out);
    for (size_t c = 0; c < plot->sampling->count; c++)
        for (size_t side = 0; side < 2; side++) {
            double sum = 0;
            fprintf(out, "%.9g\t0", plot->sampling->edges[c + side] / scale->x_unit);
            for (size_t i = 0; i < count; i++) {
                sum += category_curve(plot->curves, shown[i])[c];
                fprintf(out, "\t%.7g", sum / scale->y_unit);
            }
            fputc('\n', out);
        }
}

void plot_areas_write(const struct plot *plot, const struct plot_scale *scale,
                      const struct plot_legend *legend, FILE *out)
{
    if (plot->curves) {
        write_categories(plot, scale, out);
        return;
    }
    fputs("# where\tmemory\tcolour; a shape an allocation\n", out);
    for (size_t b = 0; b < plot->bands->count; b++)
        write_band(plot, scale, b, legend->of_band[b], out);
}

static double column_x(const struct plot *plot, const struct plot_scale *scale, size_t column)
{
    return plot->sampling->edges[column] / scale->x_unit;
}

/* Where it begins, ends, its colour, and its name if there is room. */
void plot_phases_write(const struct plot *plot, const struct plot_scale *scale, FILE *out)
{
    static const unsigned colours[PHASE_COUNT] = {0xF2F2F2, 0xEDEDED, 0xE6DDEE,
                                                  0xDCE8F5, 0xC3D6E6, 0xA9C0D6};
    size_t written = 0;
    fputs("# from\tto\tcolour\tname\n", out);
    for (size_t i = 0; i < plot->phases->count && written < PHASES_MOST; i++) {
        const struct phase_row *row = &plot->phases->items[i];
        double from = column_x(plot, scale, sampling_column_showing(plot->sampling, row->first));
        double to =
            row->last + 1 < plot->timeline->trace->count
                ? column_x(plot, scale, sampling_column_showing(plot->sampling, row->last + 1))
                : scale->x_last;
        const char *name = phase_name(row->phase);
        double pixels = (to - from) / scale->pixel_x;
        if (pixels < STRIP_PIXEL)
            continue;
        char shown[32];
        snprintf(shown, sizeof(shown), "%s", name);
        for (char *c = shown; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        bool fits = pixels > ((double)strlen(name) + 1) * PLOT_CHARACTER;
        fprintf(out, "%.9g\t%.9g\t%u\t%s\n", from, to, colours[row->phase], fits ? shown : " ");
        written++;
    }
}

/* The widest stretch in which the band does not move. */
static void widest(const struct plot *plot, size_t b, size_t *from, size_t *to, double *low)
{
    const struct band_run *runs = plot->shapes->runs + plot->shapes->first[b];
    size_t count = plot->shapes->first[b + 1] - plot->shapes->first[b];
    const double *edges = plot->sampling->edges;
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

/* Black or white, whichever is read better on `colour`. */
static unsigned text_colour(unsigned colour)
{
    unsigned light =
        299 * (colour >> 16 & 0xFF) + 587 * (colour >> 8 & 0xFF) + 114 * (colour & 0xFF);
    return light < 128 * 1000 ? 0xFFFFFF : 0;
}

/* The size and call site of a band, in at most `letters`. */
static bool put_label(const struct plot *plot, const struct band *band, size_t letters, FILE *out,
                      struct error *err)
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

bool plot_labels_write(const struct plot *plot, const struct plot_scale *scale,
                       const struct plot_legend *legend, FILE *out, struct error *err)
{
    size_t written = 0;
    fputs("# where\tmemory\ttext\tcolour\n", out);
    for (size_t b = 0; plot->bands && b < plot->bands->count && written < LABELS_MOST; b++) {
        const struct band *band = &plot->bands->items[b];
        size_t from, to;
        double low = 0, height = (double)band->size / scale->y_unit;
        if (height < PLOT_TEXT_LINES * scale->pixel_y)
            continue;
        widest(plot, b, &from, &to, &low);
        double x = column_x(plot, scale, from);
        double letters = (column_x(plot, scale, to) - x) / scale->pixel_x / PLOT_CHARACTER - 2;
        if (letters < LETTERS_LEAST)
            continue;
        fprintf(out, "%.9g\t%.7g\t", x + PLOT_CHARACTER * scale->pixel_x * 0.7,
                low / scale->y_unit + height / 2);
        if (!put_label(plot, band, (size_t)letters, out, err))
            return false;
        fprintf(out, "\t%u\n", text_colour(legend->of_band[b]));
        written++;
    }
    return true;
}
