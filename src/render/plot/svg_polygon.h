/* A polygon of an SVG as gnuplot writes it, and as a short path, which browsers read faster. */
#ifndef MEMSNAP_RENDER_PLOT_SVG_POLYGON_H
#define MEMSNAP_RENDER_PLOT_SVG_POLYGON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

/* Hundredths of a pixel, which is what gnuplot writes. */
struct svg_point {
    int64_t x, y;
};

struct svg_polygon {
    unsigned colour;
    struct svg_point *points;
    size_t count, room;
    bool failed; /* out of memory: it holds no polygon */
};

/* False for any other line. What `polygon` held before is used again. */
bool svg_polygon_read(struct svg_polygon *polygon, const char *line);
void svg_polygon_release(struct svg_polygon *polygon);

/* Adds the path of its outline, as it stands in d="": points on straight lines are left out, and
 * the first point stays the first. */
void svg_polygon_path(const struct svg_polygon *polygon, struct buffer *out);

/* Slivers: small shapes of an SVG without a title. Those of a colour share one path, since a
 * browser takes as long for a small shape as for a large one. They are drawn after their
 * neighbours, which they do not overlap in the pictures of memsnap. Large shapes, which may overlap
 * in a template of the user's, are never slivers. */
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
/* Writes paths that are full to `out`. */
void svg_slivers_add(struct svg_slivers *slivers, const struct svg_polygon *polygon, FILE *out);
/* Writes all, and is empty again. */
void svg_slivers_flush(struct svg_slivers *slivers, FILE *out);

#endif
