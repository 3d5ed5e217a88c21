/* The picture of a layer trace, or of MemoryTracker's curves: a panel a measure. */
#ifndef MEMSNAP_RENDER_PLOT_LAYERS_H
#define MEMSNAP_RENDER_PLOT_LAYERS_H

#include "analysis/layers/panels.h"
#include "render/plot/plot.h"

#define PLOT_PANEL_COLUMNS 800 /* two panels stand side by side */

enum {
    LAYERS_SCRIPT,
    LAYERS_PANELS,
};
#define PLOT_LAYERS_FILES "plot.gp", "panels.tsv"

/* Writes the settings to the script, and the data file. Panels that have nothing to show are left
 * out, and the subtitle says so. False: out of memory. */
bool plot_layers_write(const struct plot_look *look, const struct layer_panels *panels,
                       FILE *const files[], struct error *err);

#endif
