/* Pictures on the terminal: which sort, and how large. */
#ifndef MEMSNAP_COMMANDS_PLOT_TERM_H
#define MEMSNAP_COMMANDS_PLOT_TERM_H

#include "commands/plot/options.h"

/* Settles what --term leaves open: the format and the size. `gnuplot` may be NULL. Says on standard
 * error when it cannot be sixel. */
void plot_term_settle(struct plot_options *options, const char *gnuplot);

#endif
