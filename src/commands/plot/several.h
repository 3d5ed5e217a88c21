/* Curves that a picture of several captures takes from summaries. */
#ifndef MEMSNAP_COMMANDS_PLOT_SEVERAL_H
#define MEMSNAP_COMMANDS_PLOT_SEVERAL_H

#include "analysis/curves/sampling.h"
#include "commands/plot/load.h"

/* Reads the summary of one capture, and makes a sampling of its curve on the axis of the picture.
 * Closes the input. The caller releases the sampling, also on failure. */
bool plot_summary_read(const struct plot_load *load, struct input *input, struct sampling *sampling,
                       uint64_t *events, struct error *err);

#endif
