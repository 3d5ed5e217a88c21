/* Chooses the format and size of a picture on the terminal. */
#ifndef MEMSNAP_COMMANDS_PLOT_TERM_H
#define MEMSNAP_COMMANDS_PLOT_TERM_H

#include "commands/plot/options.h"

/* Sets the format and size for --term. `gnuplot` may be NULL. Warns on standard error
 * if sixel is not available. */
void plot_term_settle(struct plot_options *options, const char *gnuplot);

#endif
