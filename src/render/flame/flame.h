/* Flame graphs for other programs to draw. */
#ifndef MEMSNAP_RENDER_FLAME_FLAME_H
#define MEMSNAP_RENDER_FLAME_FLAME_H

#include <stdio.h>

#include "analysis/flame/flame.h"

/* All devices of a capture; nothing is owned. */
struct flame_graphs {
    const char *path; /* of the capture */
    struct flame *const *items;
    size_t count;
};

/* A line a stack: frames from the outermost on, joined by ";", a space and the weight, a whole
 * number. Of several devices each has its name, "device 0", as its outermost frame. */
bool flame_folded(FILE *out, const struct flame_graphs *graphs, struct error *err);

/* The file format of speedscope.app: a profile a device. */
bool flame_speedscope(FILE *out, const struct flame_graphs *graphs, struct error *err);

/* "bytes live", "bytes x milliseconds": what the weights of a graph are. */
void flame_weight_name(const struct flame *flame, struct buffer *name);

#endif
