/* Pictures as gnuplot draws them: a script and its tab-separated data. Text from the input stands
 * in them only as escape_plot() leaves it. */
#ifndef MEMSNAP_RENDER_PLOT_H
#define MEMSNAP_RENDER_PLOT_H

#include <stdio.h>

#include "analysis/bands.h"
#include "analysis/category_curves.h"
#include "analysis/phase_rows.h"

#define PLOT_COLUMNS 1500  /* more than a picture has pixels are of no use */
#define PLOT_RUNS    60000 /* of bands; four points each: keeps an SVG below 4 MB */

enum plot_kind { PLOT_TIMELINE, PLOT_CATEGORIES };
enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF };
enum plot_colour { COLOUR_CATEGORY, COLOUR_SITE, COLOUR_SIZE };

extern const char *const plot_kinds[];   /* "timeline", ..., NULL */
extern const char *const plot_formats[]; /* "svg", ..., NULL */
extern const char *const plot_colours[]; /* "category", ..., NULL */

struct plot_look {
    enum plot_kind kind;
    enum plot_format format;
    enum plot_colour colour;
    unsigned width, height; /* pixels */
    const char *title;      /* raw bytes */
};

/* All that a picture shows; nothing is owned. */
struct plot {
    struct plot_look look;
    const struct timeline *timeline;
    struct site_table *sites;
    const struct sampling *sampling;
    const struct categories *categories;
    const struct phase_rows *phases;
    const struct bands *bands; /* timeline only, as the next */
    const struct band_shapes *shapes;
    const struct category_curves *curves; /* categories only */
};

/* The files of a picture, by these names, beside each other. */
enum plot_file { PLOT_SCRIPT, PLOT_CURVES, PLOT_AREAS, PLOT_PHASES, PLOT_LABELS, PLOT_FILES };
extern const char *const plot_file_names[PLOT_FILES]; /* "plot.gp", "curves.tsv", ... */

/* Bytes that half a pixel of the picture's height stands for. */
double plot_half_pixel(const struct plot *plot);

/* Writes all files; `template` is what follows the settings in the script. */
bool plot_write(const struct plot *plot, const char *template, FILE *const files[PLOT_FILES],
                struct error *err);

#endif
