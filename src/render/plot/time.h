/* Shared by pictures of memory over time: axes, curves, the peak, and the strip of phases. */
#ifndef MEMSNAP_RENDER_PLOT_TIME_H
#define MEMSNAP_RENDER_PLOT_TIME_H

#include "analysis/category/category.h"
#include "analysis/curves/sampling.h"
#include "analysis/phase/rows.h"
#include "render/plot/plot.h"

#define PLOT_TIME_STRIP 1.05 /* how far frame.gp's axis goes beyond y_top: the strip of phases */
#define PLOT_COLUMNS    1500 /* more than a picture has pixels would be useless */

/* The margins of a graph over time; the legend is in the right one. */
extern const struct plot_margins plot_time_margins;
/* The margins of a graph made of characters. */
extern const struct plot_margins plot_text_margins;

/* Nothing is owned. */
struct plot_time {
    const struct plot_look *look;
    struct plot_margins margins;
    const struct timeline *timeline;
    const struct sampling *sampling;
    const struct phase_rows *phases;
    const struct categories *categories;
    bool has_mark; /* after trace item `mark` (-1: before the first) */
    int64_t mark;
};

/* Axes. The data files hold values in bytes, events or microseconds divided by the unit of the
 * axis. */
struct plot_scale {
    double x_unit, y_unit;
    const char *x_label, *y_name;
    double x_first, x_last, y_top; /* of the axes, in these units */
    double pixel_x, pixel_y;       /* the size of a pixel of the plot, in these units */
};

struct plot_scale plot_time_scale(const struct plot_time *plot);
/* The unit, in microseconds, of an axis that is `span` microseconds long; `*label` names it. */
double plot_time_unit(double span, const char **label);
/* The bytes that half a pixel of height stands for. */
double plot_time_half_pixel(const struct plot_time *plot);
/* The height in pixels that is left for the legend, below its entries for the two curves. */
unsigned plot_time_legend(const struct plot_time *plot);
/* The sampling's column with the most active memory. */
size_t plot_time_peak_column(const struct sampling *sampling);
double plot_time_x(const struct plot_time *plot, const struct plot_scale *scale, size_t column);

/* Writes the settings: the subtitle, the margins, the axes, and the position of the peak. */
void plot_time_put(FILE *script, const struct plot_time *plot, const struct plot_scale *scale,
                   const char *subtitle);
/* Says why sampling->unknown is not 0. */
const char *plot_unrecorded_words(const struct timeline *timeline);
/* Write data files: the steps of the curves; and the begin, end, colour and, if there is room, name
 * of each phase. */
void plot_time_curves(FILE *out, const struct plot_time *plot, const struct plot_scale *scale);
void plot_time_phases(FILE *out, const struct plot_time *plot, const struct plot_scale *scale);

#endif
