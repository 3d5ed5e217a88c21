/* The picture of memory over time with an area a category. */
#ifndef MEMSNAP_RENDER_PLOT_CATEGORIES_H
#define MEMSNAP_RENDER_PLOT_CATEGORIES_H

#include "analysis/curves/category_curves.h"
#include "render/plot/time.h"

/* Nothing is owned. */
struct plot_categories {
    struct plot_time time;
    const struct category_curves *curves;
    FILE *notes; /* for titles (svg_titles.h), or NULL */
};

enum {
    CATEGORIES_SCRIPT,
    CATEGORIES_CURVES,
    CATEGORIES_PHASES,
    CATEGORIES_AREAS,
};
#define PLOT_CATEGORIES_FILES "plot.gp", "curves.tsv", "phases.tsv", "categories.tsv"

/* Writes the settings to the script, and the data files. */
bool plot_categories_write(const struct plot_categories *plot, FILE *const files[],
                           struct error *err);

#endif
