/* Draws a picture with gnuplot, and adds titles to the shapes of an SVG. */
#ifndef MEMSNAP_COMMANDS_PLOT_SVG_H
#define MEMSNAP_COMMANDS_PLOT_SVG_H

#include <stdio.h>

#include "base/error.h"

/* Creates an unnamed file in memory for reading and writing; NULL on error. */
FILE *plot_svg_scratch(struct error *err);

/* Draws plot.gp of the folder, and writes the picture to `out`, an SVG with the titles of `notes`
 * (svg_titles.h), which another process has written; other formats have none. gnuplot draws into
 * memory because it does not report a full disk. A write error is left in `out`. */
bool plot_draw(const char *gnuplot, const char *folder, FILE *notes, FILE *out, struct error *err);

#endif
