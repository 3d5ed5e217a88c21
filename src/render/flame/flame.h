/* Flame graphs for other programs to draw. */
#ifndef MEMSNAP_RENDER_FLAME_FLAME_H
#define MEMSNAP_RENDER_FLAME_FLAME_H

#include <stdio.h>

#include "analysis/flame/flame.h"

/* The graphs of all devices of a capture. Nothing is owned. */
struct flame_graphs {
    const char *path; /* of the capture */
    struct flame *const *items;
    size_t count;
};

/* One line for each stack: the frames joined by ";", outermost first, then a space and the weight,
 * a whole number. With several devices, the outermost frame names the device: "device 0". */
bool flame_folded(FILE *out, const struct flame_graphs *graphs, struct error *err);

/* The file format of speedscope.app, with one profile for each device. */
bool flame_speedscope(FILE *out, const struct flame_graphs *graphs, struct error *err);

#endif
