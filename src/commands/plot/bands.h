/* The bands of a timeline. */
#ifndef MEMSNAP_COMMANDS_PLOT_BANDS_H
#define MEMSNAP_COMMANDS_PLOT_BANDS_H

#include "render/plot/timeline.h"

/* Bands whose shapes are few enough: coarser ones first, then fewer than `wanted` (0: as many as it
 * takes) and PLOT_BANDS. */
bool plot_bands_make(struct bands *bands, struct band_shapes *shapes, const struct plot_time *time,
                     size_t wanted, struct error *err);

#endif
