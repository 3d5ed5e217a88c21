/* Draws an SVG and adds titles to its shapes. */
#ifndef MEMSNAP_COMMANDS_PLOT_SVG_H
#define MEMSNAP_COMMANDS_PLOT_SVG_H

#include <stdio.h>

#include "base/error.h"

/* An unnamed file in memory, for reading and writing; NULL: an error. */
FILE *plot_svg_scratch(struct error *err);

/* Draws plot.gp of the folder, and writes the picture to `out` with the titles of `notes`
 * (svg_titles.h), which another process has written. */
bool plot_svg(const char *gnuplot, const char *folder, FILE *notes, FILE *out, struct error *err);

#endif
