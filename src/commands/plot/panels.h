/* Reads the graphs of a layer trace, or of MemoryTracker's curves. */
#ifndef MEMSNAP_COMMANDS_PLOT_PANELS_H
#define MEMSNAP_COMMANDS_PLOT_PANELS_H

#include "analysis/layers/panels.h"
#include "decode/core/input.h"
#include "decode/core/sniff.h"

/* The panels refer to the names in the file that they were made of. */
struct plot_panels {
    struct layer_panels panels;
    struct layer_trace *trace;
    struct operator_curves *curves;
};

/* `file` is KIND_OPERATOR_CURVES, or else the input is read as a layer trace. Takes ownership of
 * the input. Call plot_panels_close() in any case. */
bool plot_panels_open(struct plot_panels *made, struct input *input, enum file_kind file,
                      size_t columns, struct error *err);
void plot_panels_close(struct plot_panels *made);

#endif
