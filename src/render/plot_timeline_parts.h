/* What the parts of the timeline share: how bands look. */
#ifndef MEMSNAP_RENDER_PLOT_TIMELINE_PARTS_H
#define MEMSNAP_RENDER_PLOT_TIMELINE_PARTS_H

#include "render/plot_legend.h"
#include "render/plot_timeline.h"

/* The colour of every band into `colours`, and what they mean into the legend. */
bool plot_bands_colour(const struct plot_timeline *plot, unsigned *colours,
                       struct plot_legend *legend, struct error *err);
/* The same by call site. */
bool plot_bands_colour_sites(const struct plot_timeline *plot, unsigned *colours,
                             struct plot_legend *legend, struct error *err);
uint8_t plot_band_category(const struct plot_timeline *plot, const struct band *band);
/* The call site of a band, as raw bytes. */
bool plot_band_site(const struct plot_timeline *plot, const struct band *band, struct buffer *label,
                    struct error *err);

/* Shapes, and the sizes and call sites of those with room for them. */
void plot_bands_write(FILE *out, const struct plot_timeline *plot, const struct plot_scale *scale,
                      const unsigned *colours);
bool plot_band_labels_write(FILE *out, const struct plot_timeline *plot,
                            const struct plot_scale *scale, const unsigned *colours,
                            struct error *err);

/* What to tell of each shape (svg_titles.h). */
bool plot_band_titles_write(FILE *notes, const struct plot_timeline *plot,
                            const struct plot_scale *scale, const unsigned *colours,
                            struct error *err);

#endif
