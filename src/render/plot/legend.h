/* The legend of a picture (coloured boxes, each with a line of text), and labels beside points of a
 * graph, placed so that none covers another. */
#ifndef MEMSNAP_RENDER_PLOT_LEGEND_H
#define MEMSNAP_RENDER_PLOT_LEGEND_H

#include <stddef.h>
#include <stdio.h>

#define PLOT_KEYS_MOST 64
#define PLOT_KEY_LINE  21 /* pixels */
#define PLOT_KEY_TEXT  34 /* characters of the name in a line */

struct plot_key {
    unsigned colour;
    char text[160]; /* escaped */
};

struct plot_legend {
    struct plot_key keys[PLOT_KEYS_MOST];
    size_t count;
    size_t left_out; /* entries for which there was no room */
};

/* Adds a line. `name` is raw bytes and may be cut; `remark` follows it and is never cut. */
void plot_legend_add(struct plot_legend *legend, unsigned colour, const char *name,
                     const char *remark);
/* Writes as many lines as fit in `pixels`; the last one says how many entries are missing. Sets
 * keys, key_colour[] and key_text[]. */
void plot_legend_put(FILE *script, struct plot_legend *legend, unsigned pixels);

struct plot_label {
    size_t of;   /* index of its subject, for the caller */
    double x, y; /* the point */
    double at;   /* the height of the label, which plot_spread() sets */
};

/* Sorts labels by the height of their points, and puts each above its point and above any lower
 * label that it would touch. `line` is the height of a label, `width` its greatest length. */
void plot_spread(struct plot_label *labels, size_t count, double line, double width);

#endif
