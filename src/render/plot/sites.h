/* The picture of who holds the memory that is live at a moment: a bar a call site. */
#ifndef MEMSNAP_RENDER_PLOT_SITES_H
#define MEMSNAP_RENDER_PLOT_SITES_H

#include "render/plot/bars.h"
#include "render/plot/words.h"

enum { SITES_SCRIPT, SITES_BARS };
#define PLOT_SITES_FILES "plot.gp", "bars.tsv"

/* Narrow pictures have less for names. */
struct plot_margins plot_sites_margins(const struct plot_look *look);

/* The largest `most` call sites and a last bar for all others. What has no call site has bars of
 * its own, and all are in the order of their size. */
bool plot_sites_bars(const struct plot_subject *subject, size_t most, size_t letters,
                     struct plot_bars *bars, struct error *err);
/* A bar a category. */
bool plot_category_bars(const struct plot_subject *subject, size_t most, size_t letters,
                        struct plot_bars *bars, struct error *err);

/* Writes the settings to the script, and the data file. `notes`: for titles (svg_titles.h), or
 * NULL. */
bool plot_sites_write(const struct plot_subject *subject, const struct plot_look *look,
                      FILE *const files[], FILE *notes, struct error *err);

#endif
