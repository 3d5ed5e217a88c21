/* A polygon of an SVG as gnuplot writes it, and the same in the words that a browser reads fastest.
 */
#ifndef MEMSNAP_RENDER_PLOT_SVG_POLYGON_H
#define MEMSNAP_RENDER_PLOT_SVG_POLYGON_H

#include <stddef.h>
#include <stdint.h>

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

/* Square pixels, and pixels of its outline as measured along the axes. */
double svg_polygon_area(const struct svg_polygon *polygon, double *outline);

/* Adds the path of its outline, as it stands in d="": points on straight lines are left out, and
 * the first point stays the first. */
void svg_polygon_path(const struct svg_polygon *polygon, struct buffer *out);

#endif
