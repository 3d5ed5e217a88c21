/* The picture of the memory that is live at a moment: one bar per call site. */
#ifndef MEMSNAP_RENDER_PLOT_SITES_H
#define MEMSNAP_RENDER_PLOT_SITES_H

#include "render/plot/bars.h"
#include "render/plot/snapshot.h"

/* Makes bars for the `most` largest call sites, and a last bar for all others. Memory without a
 * call site has bars of its own. All bars are in the order of their size. `letters` is the most
 * letters of a label. */
bool plot_sites_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                     struct plot_bars *bars, struct error *err);
/* Makes one bar for each category. */
bool plot_category_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                        struct plot_bars *bars, struct error *err);

#endif
