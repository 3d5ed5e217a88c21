/* The picture of the memory that is live at a moment: one bar per call site. */
#ifndef MEMSNAP_RENDER_PLOT_SITES_H
#define MEMSNAP_RENDER_PLOT_SITES_H

#include "render/plot/bars.h"
#include "render/plot/snapshot.h"

/* The largest `most` call sites and a last bar for all others. What has no call site has bars of
 * its own, and all are in the order of their size. */
bool plot_sites_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                     struct plot_bars *bars, struct error *err);
/* A bar a category. */
bool plot_category_bars(const struct plot_snapshot *snapshot, size_t most, size_t letters,
                        struct plot_bars *bars, struct error *err);

#endif
