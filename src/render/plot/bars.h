/* Horizontal bars from top to bottom, each with a label on the left and figures on the right. */
#ifndef MEMSNAP_RENDER_PLOT_BARS_H
#define MEMSNAP_RENDER_PLOT_BARS_H

#include <stddef.h>

#include "base/buffer.h"
#include "render/plot/plot.h"

#define PLOT_BAR_PIXELS 25   /* the least distance from one bar to the next */
#define PLOT_BAR_MOST   36   /* the largest distance in pixels, if there are few bars */
#define PLOT_BAR_HALF   0.37 /* half the height of a bar, as a share of the distance: see bars.gp */
#define PLOT_BAR_TEXT   80

struct plot_bar {
    char *label; /* malloc'ed, escaped */
    unsigned colour;
    double bytes;
    char text[PLOT_BAR_TEXT]; /* figures */
    struct buffer title;      /* the tooltip, raw bytes */
};

struct plot_bars {
    struct plot_bar *items;
    size_t count;
};

/* Number of bars that fit. */
size_t plot_bars_room(const struct plot_look *look, struct plot_margins margins);
/* Number of letters of a label that fit in the left margin. */
size_t plot_bars_letters(const struct plot_look *look, struct plot_margins margins);
void plot_bars_release(struct plot_bars *bars);

/* Writes the settings (the margins, bars, x_top and x_label), and the data into a file of that
 * name. A few bars do not take up all the room, and the longest bar leaves room for its text.
 * `notes`: for titles (svg_titles.h), or NULL. */
bool plot_bars_write(FILE *script, FILE *out, const char *name, const struct plot_bars *bars,
                     const struct plot_look *look, struct plot_margins margins, FILE *notes,
                     struct error *err);

#endif
