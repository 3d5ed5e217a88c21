/* The picture of memory over time, with one band for each allocation. */
#ifndef MEMSNAP_RENDER_PLOT_TIMELINE_H
#define MEMSNAP_RENDER_PLOT_TIMELINE_H

#include "analysis/curves/bands.h"
#include "render/plot/kind.h"
#include "render/plot/time.h"

/* Limits that keep an SVG below 4 MB, and below 8 MB with titles. A run of a band has four
 * points. */
#define PLOT_RUNS  60000 /* the most runs of all bands */
#define PLOT_BANDS 15000 /* the most bands */

/* The contents of the picture. Nothing is owned. */
struct plot_timeline {
    struct plot_time time;
    enum plot_colour colour;
    struct site_table *sites;
    const struct bands *bands;
    const struct band_shapes *shapes;
    FILE *notes; /* for titles (svg_titles.h), or NULL */
};

enum {
    TIMELINE_SCRIPT,
    TIMELINE_CURVES,
    TIMELINE_PHASES,
    TIMELINE_BANDS,
    TIMELINE_LABELS,
    TIMELINE_REST,
};
#define PLOT_TIMELINE_FILES                                                                        \
    "plot.gp", "curves.tsv", "phases.tsv", "bands.tsv", "labels.tsv", "rest.tsv"

/* Chooses the bands and computes their shapes. To keep them few enough for an SVG, makes shapes
 * coarser first, then keeps fewer bands than `wanted` (0: as many as needed). The caller releases
 * both. */
bool plot_bands_make(struct bands *bands, struct band_shapes *shapes, const struct plot_time *time,
                     size_t wanted, struct error *err);

/* Writes the settings and the data files. */
bool plot_timeline_write(const struct plot_timeline *plot, FILE *const files[], struct error *err);

#endif
