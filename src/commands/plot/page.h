/* The timeline as an interactive HTML page, which needs no gnuplot. */
#ifndef MEMSNAP_COMMANDS_PLOT_PAGE_H
#define MEMSNAP_COMMANDS_PLOT_PAGE_H

#include "commands/cli/inputs.h"
#include "commands/plot/options.h"

enum status plot_page(const struct plot_options *options, struct inputs *inputs);

#endif
