/* Labels beside points of a graph, none on another. */
#ifndef MEMSNAP_RENDER_PLOT_SPREAD_H
#define MEMSNAP_RENDER_PLOT_SPREAD_H

#include <stddef.h>

struct plot_label {
    size_t of;   /* what it is of, for the caller */
    double x, y; /* the point */
    double at;   /* the height of the label, which plot_spread() sets */
};

/* Sorts labels from the lowest point to the highest, and puts each above its point and above those
 * below that it would touch. `line` is the height of one, `width` how long one may be. */
void plot_spread(struct plot_label *labels, size_t count, double line, double width);

#endif
