/* Horizontal bars, from the top to the bottom, with a name before and words behind each. */
#ifndef MEMSNAP_RENDER_PLOT_BARS_H
#define MEMSNAP_RENDER_PLOT_BARS_H

#include <stddef.h>

#include "base/buffer.h"
#include "render/plot/plot.h"

#define PLOT_BAR_PIXELS 25   /* from one bar to the next */
#define PLOT_BAR_MOST   36   /* of these pixels, where there are few */
#define PLOT_BAR_HALF   0.37 /* of that: how far a bar reaches from its middle in bars.gp */
#define PLOT_BAR_TEXT   80

struct plot_bar {
    char *label; /* malloc'ed, escaped */
    unsigned colour;
    double bytes;
    char text[PLOT_BAR_TEXT]; /* figures */
    struct buffer title;      /* to be told of it, raw bytes */
};

struct plot_bars {
    struct plot_bar *items;
    size_t count;
};

/* How many there is room for. */
size_t plot_bars_room(const struct plot_look *look, struct plot_margins margins);
/* How many letters of a label fit the left margin. */
size_t plot_bars_letters(const struct plot_look *look, struct plot_margins margins);
void plot_bars_release(struct plot_bars *bars);

/* Settings: the margins, bars, x_top, x_label; and the data, into a file of that name. Few bars do
 * not take all the room, and the longest leaves some for its text. `notes`: for titles
 * (svg_titles.h), or NULL. */
bool plot_bars_write(FILE *script, FILE *out, const char *name, const struct plot_bars *bars,
                     const struct plot_look *look, struct plot_margins margins, FILE *notes,
                     struct error *err);

#endif
