/* Shapes of an SVG that are small and say nothing: those of a colour in one path, for a browser
 * takes as long for each as for a large one. They are drawn later than their neighbours, which they
 * do not overlap in any picture of ours; so large ones, which somebody's own template might let
 * overlap, are none. */
#ifndef MEMSNAP_RENDER_PLOT_SVG_SLIVERS_H
#define MEMSNAP_RENDER_PLOT_SVG_SLIVERS_H

#include <stdio.h>

#include "render/plot/svg_polygon.h"

#define SVG_SLIVER 0.75 /* pixels: what is thinner cannot be pointed at */

struct svg_slivers {
    struct svg_sliver_path {
        unsigned colour;
        struct buffer path;
    } paths[64];
    size_t count;
    bool failed; /* out of memory */
};

bool svg_is_sliver(const struct svg_polygon *polygon);
/* Writes what there is no room for any more to `out`. */
void svg_slivers_add(struct svg_slivers *slivers, const struct svg_polygon *polygon, FILE *out);
/* Writes all, and is empty again. */
void svg_slivers_flush(struct svg_slivers *slivers, FILE *out);

#endif
