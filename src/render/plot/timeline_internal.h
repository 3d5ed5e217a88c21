/* Shared by the files of the timeline: how bands look. */
#ifndef MEMSNAP_RENDER_PLOT_TIMELINE_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_TIMELINE_INTERNAL_H

#include "analysis/curves/category_curves.h"
#include "render/plot/legend.h"
#include "render/plot/timeline.h"

uint8_t plot_band_category(const struct plot_timeline *plot, const struct band *band);

/* A group is drawn in one colour: a category, a call site, or a class of sizes. */
struct plot_groups {
    /* The group of every lifetime and of all preexisting; below CATEGORY_LIMIT, not CATEGORY_COUNT.
     */
    const uint8_t *of_lifetime, *of_preexisting;
    uint8_t *owned_lifetime, *owned_preexisting; /* NULL where they are the categories' */
    uint8_t order[CATEGORY_LIMIT];               /* from the lowest to the highest */
    unsigned colour[CATEGORY_LIMIT];             /* by group, as the next */
    char *name[CATEGORY_LIMIT]; /* malloc'ed, raw bytes; NULL: not in the picture */
};

bool plot_groups_make(struct plot_groups *groups, const struct plot_timeline *plot,
                      struct error *err);
void plot_groups_release(struct plot_groups *groups);
uint8_t plot_group_of(const struct plot_groups *groups, const struct band *band);

/* Writes the settings and data of the memory that has no band: one area for each group, above the
 * bands. Adds the groups to the legend. */
bool plot_rest_write(const struct plot_timeline *plot, const struct plot_scale *scale,
                     const struct plot_groups *groups, struct plot_legend *legend, FILE *script,
                     FILE *out, struct error *err);

/* The call site of a band, as raw bytes. */
bool plot_band_site(const struct plot_timeline *plot, const struct band *band, struct buffer *label,
                    struct error *err);

/* Adds `before` and the annotations of a band, as raw bytes; nothing if it has none. */
bool plot_band_annotation(const struct plot_timeline *plot, const struct band *band,
                          const char *before, struct buffer *label, struct error *err);

/* Shapes, and the sizes, call sites and annotations of those with room for them. */
void plot_bands_write(FILE *out, const struct plot_timeline *plot, const struct plot_scale *scale,
                      const unsigned *colours);
bool plot_band_labels_write(FILE *out, const struct plot_timeline *plot,
                            const struct plot_scale *scale, const unsigned *colours,
                            struct error *err);

#endif
