/* The picture of memory by phase: for each stretch of forward, backward, optimizer step and so on
 * its highest value, and what was live when it ended. */
#ifndef MEMSNAP_RENDER_PLOT_PHASES_H
#define MEMSNAP_RENDER_PLOT_PHASES_H

#include "render/plot/plot.h"
#include "render/plot/words.h"

enum { PHASES_SCRIPT, PHASES_BARS, PHASES_STEPS };
#define PLOT_PHASES_FILES "plot.gp", "phase-bars.tsv", "phase-steps.tsv"

extern const struct plot_margins plot_phases_margins;

/* Writes the settings to the script, and the data files. `notes`: for titles (svg_titles.h), or
 * NULL. */
bool plot_phases_write(const struct plot_subject *subject, const struct plot_look *look,
                       FILE *const files[], FILE *notes, struct error *err);

#endif
