/* What the parts of a picture share. */
#ifndef MEMSNAP_RENDER_PLOT_PARTS_H
#define MEMSNAP_RENDER_PLOT_PARTS_H

#include "render/plot.h"

#define PLOT_LEFT  80 /* margins in pixels; the right one has the legend */
#define PLOT_RIGHT 300
#define PLOT_TOP   100
#define PLOT_FOOT  60

#define PLOT_KEYS       24
#define PLOT_KEY_TEXT   34 /* characters */
#define PLOT_REST       0xDDDDDD
#define PLOT_CHARACTER  6.7 /* pixels that a letter of the small font takes, about */
#define PLOT_TEXT_LINES 14  /* pixels */

/* Axes: a value in bytes, events or microseconds divided by its unit is what the data files have.
 */
struct plot_scale {
    double x_unit, y_unit;
    const char *x_label, *y_name;
    double x_first, x_last, y_top; /* of the axes, in these units */
    double pixel_x, pixel_y;       /* what a pixel of the plot stands for, in these units */
};

struct plot_scale plot_scale(const struct plot *plot);

struct plot_key {
    unsigned colour;
    char text[160]; /* escaped */
};

/* The legend, and the colour of every band. */
struct plot_legend {
    struct plot_key keys[PLOT_KEYS];
    size_t count;
    unsigned *of_band; /* as many as bands; NULL for categories */
};

unsigned plot_category_colour(size_t category);
bool plot_legend_make(struct plot_legend *legend, const struct plot *plot, struct error *err);
void plot_legend_release(struct plot_legend *legend);
/* False where there is no room for it. */
void plot_legend_add(struct plot_legend *legend, unsigned colour, const char *name,
                     const char *remark);
/* The categories of the picture, from the lowest to the highest; returns how many. */
size_t plot_categories_shown(const struct plot *plot, uint8_t shown[CATEGORY_LIMIT]);
/* Colours for bands by call site. */
bool plot_colour_sites(struct plot_legend *legend, const struct plot *plot, struct error *err);

uint8_t plot_band_category(const struct plot *plot, const struct band *band);
/* Raw bytes. */
bool plot_band_site(const struct plot *plot, const struct band *band, struct buffer *label,
                    struct error *err);

void plot_curves_write(const struct plot *plot, const struct plot_scale *scale, FILE *out);
void plot_areas_write(const struct plot *plot, const struct plot_scale *scale,
                      const struct plot_legend *legend, FILE *out);
void plot_phases_write(const struct plot *plot, const struct plot_scale *scale, FILE *out);
bool plot_labels_write(const struct plot *plot, const struct plot_scale *scale,
                       const struct plot_legend *legend, FILE *out, struct error *err);

#endif
