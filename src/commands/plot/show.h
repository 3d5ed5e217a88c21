/* Shows a picture on standard output, as characters or as a sixel image. */
#ifndef MEMSNAP_COMMANDS_PLOT_SHOW_H
#define MEMSNAP_COMMANDS_PLOT_SHOW_H

#include "render/plot/plot.h"

/* Draws plot.gp of the folder in `format`, PLOT_DUMB or PLOT_SIXEL, and prints the result. */
bool plot_show(const char *gnuplot, const char *folder, enum plot_format format, struct error *err);

#endif
