/* The picture of the layout of reserved memory: every segment with its blocks and holes, end to end
 * in lines of the same length, so that areas are proportional to bytes. Each pool begins a new
 * line. */
#ifndef MEMSNAP_RENDER_PLOT_SEGMENTS_H
#define MEMSNAP_RENDER_PLOT_SEGMENTS_H

#include "analysis/pool/segment_map.h"
#include "render/plot/snapshot.h"

enum {
    SEGMENTS_SCRIPT,
    SEGMENTS_BOXES,
    SEGMENTS_ENDS,
    SEGMENTS_LABELS,
    SEGMENTS_POOLS,
    SEGMENTS_HOLE,
};
#define PLOT_SEGMENTS_DATA                                                                         \
    "segments.tsv", "segment-ends.tsv", "segment-labels.tsv", "segment-pools.tsv",                 \
        "segment-hole.tsv"
#define PLOT_SEGMENTS_FILES "plot.gp", PLOT_SEGMENTS_DATA

/* Nothing is owned. */
struct plot_segments {
    const struct plot_look *look;
    struct plot_margins margins;
    const struct plot_snapshot *snapshot;
    struct site_table *sites;
    const struct segment_map *map;
    bool is_dump; /* the moment is the snapshot itself */
    FILE *notes;  /* for titles (svg_titles.h), or NULL */
};

/* Writes the settings to the script, and the data files. */
bool plot_segments_write(const struct plot_segments *plot, FILE *const files[], struct error *err);

#endif
