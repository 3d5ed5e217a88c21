/* The picture of call stacks: a row a frame, the outermost on top, as wide as what is live below
 * it. */
#ifndef MEMSNAP_RENDER_PLOT_FLAME_H
#define MEMSNAP_RENDER_PLOT_FLAME_H

#include "analysis/flame/flame.h"
#include "render/plot/plot.h"
#include "render/plot/words.h"

/* Nothing is owned. */
struct plot_flame {
    struct plot_subject subject;
    const struct flame *flame; /* of the same moment, with categories */
    const struct plot_look *look;
    FILE *notes; /* for titles (svg_titles.h), or NULL */
};

enum { FLAME_SCRIPT, FLAME_FRAMES, FLAME_LABELS };
#define PLOT_FLAME_FILES "plot.gp", "frames.tsv", "labels.tsv"

/* Writes the settings to the script, and the data files. */
bool plot_flame_write(const struct plot_flame *plot, FILE *const files[], struct error *err);

#endif
