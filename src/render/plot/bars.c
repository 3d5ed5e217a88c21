#include "render/plot/bars.h"

#include <stdlib.h>
#include <string.h>

#include "render/plot/svg_titles.h"

size_t plot_bars_room(const struct plot_look *look, struct plot_margins margins)
{
    unsigned pixels = look->format == PLOT_DUMB ? PLOT_CELL_HEIGHT : PLOT_BAR_PIXELS;
    return (look->height - margins.top - margins.bottom) / pixels;
}

size_t plot_bars_letters(const struct plot_look *look, struct plot_margins margins)
{
    double letter = look->format == PLOT_DUMB ? PLOT_CELL_WIDTH : PLOT_CHARACTER;
    return (size_t)(margins.left / letter) - 3;
}

void plot_bars_release(struct plot_bars *bars)
{
    for (size_t i = 0; i < bars->count; i++) {
        free(bars->items[i].label);
        buffer_release(&bars->items[i].title);
    }
    free(bars->items);
    *bars = (struct plot_bars){0};
}

/* The bytes at which the axis must end so that every bar has room for its text. */
static double axis_end(const struct plot_bars *bars, double pixels)
{
    double most = 1;
    for (size_t i = 0; i < bars->count; i++) {
        double text = ((double)strlen(bars->items[i].text) + 3) * PLOT_CHARACTER;
        double share = 1 - text / pixels;
        double end = bars->items[i].bytes / (share > 0.2 ? share : 0.2);
        most = end > most ? end : most;
    }
    return most;
}

/* Notes the titles of the bars at the positions where bars.gp draws them. The axis ends at x_top
 * bytes. */
static bool note_titles(FILE *notes, const struct plot_bars *bars, const struct plot_look *look,
                        struct plot_margins margins, double x_top, struct error *err)
{
    double width = look->width - margins.left - margins.right;
    double row = (look->height - margins.top - margins.bottom) / (double)bars->count;
    bool ok = true;
    for (size_t i = 0; ok && i < bars->count; i++) {
        const struct plot_bar *bar = &bars->items[i];
        double middle = margins.top + ((double)i + 0.5) * row;
        struct svg_box box = {bar->colour, margins.left, margins.left + bar->bytes / x_top * width,
                              middle - PLOT_BAR_HALF * row, middle + PLOT_BAR_HALF * row};
        ok = svg_titles_note_box(notes, &box, &bar->title, err);
    }
    return ok;
}

bool plot_bars_write(FILE *script, FILE *out, const char *name, const struct plot_bars *bars,
                     const struct plot_look *look, struct plot_margins margins, FILE *notes,
                     struct error *err)
{
    const char *unit_name;
    double most = 1;
    for (size_t i = 0; i < bars->count; i++)
        most = bars->items[i].bytes > most ? bars->items[i].bytes : most;
    double unit = plot_unit(most, &unit_name);
    size_t high = (bars->count ? bars->count : 1) * PLOT_BAR_MOST;
    if (margins.top + high + margins.bottom < look->height)
        margins.bottom = look->height - margins.top - (unsigned)high;
    double x_top = axis_end(bars, look->width - margins.left - margins.right);
    plot_put_margins(script, look, margins);
    fprintf(script, "bar_axis = %d\n", !margins.is_panel);
    fprintf(script, "bars_file = '%s'\nbars = %zu\nx_top = %.7g\nx_label = '%s'\n", name,
            bars->count ? bars->count : 1, x_top / unit, unit_name);
    if (look->format == PLOT_DUMB)
        fprintf(script, "columns = %u\nlines = %zu\n",
                (look->width - margins.left - margins.right) / PLOT_CELL_WIDTH,
                plot_bars_room(look, margins));
    fputs("# place\tsize\tcolour\tname\tfigures\n", out);
    if (bars->count == 0) /* gnuplot wants something to draw */
        fputs("1\t0\t0\t(nothing is live)\t0 B\n", out);
    for (size_t i = 0; i < bars->count; i++)
        fprintf(out, "%zu\t%.7g\t%u\t%s\t%s\n", i + 1, bars->items[i].bytes / unit,
                bars->items[i].colour, bars->items[i].label, bars->items[i].text);
    return !notes || note_titles(notes, bars, look, margins, x_top, err);
}
