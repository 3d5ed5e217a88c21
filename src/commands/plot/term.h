/* Pictures on the terminal, as characters or as a sixel image. */
#ifndef MEMSNAP_COMMANDS_PLOT_TERM_H
#define MEMSNAP_COMMANDS_PLOT_TERM_H

#include "commands/plot/options.h"

/* Sets the format and size for --term. `gnuplot` may be NULL. Warns on standard error
 * if sixel is not available. */
void plot_term_settle(struct plot_options *options, const char *gnuplot);

/* Draws plot.gp of the folder in `format`, PLOT_DUMB or PLOT_SIXEL, and prints the result. */
bool plot_show(const char *gnuplot, const char *folder, enum plot_format format, struct error *err);

#endif
