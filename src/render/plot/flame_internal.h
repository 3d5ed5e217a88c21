/* The picture of call stacks (an icicle graph): one row for each frame, outermost on top, as wide
 * as the memory live below it. Shared by its files. */
#ifndef MEMSNAP_RENDER_PLOT_FLAME_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_FLAME_INTERNAL_H

#include "analysis/flame/flame.h"
#include "render/plot/snapshot.h"

/* Nothing is owned. */
struct plot_flame {
    const struct plot_snapshot *snapshot;
    const struct flame *flame; /* of the same moment, with categories */
    const struct plot_look *look;
    FILE *notes; /* for titles (svg_titles.h), or NULL */
};

enum { FLAME_SCRIPT, FLAME_FRAMES, FLAME_LABELS };

extern const struct plot_margins plot_flame_margins;

/* The layout of frames: x in bytes, y in rows from the top. The first row is the total. */
struct flame_layout {
    double pixel;       /* bytes */
    double row;         /* pixels */
    double graph_rows;  /* height of the graph */
    size_t rows;        /* rows drawn */
    uint64_t narrowest; /* bytes; narrower frames are left out */
    uint64_t told;      /* bytes; narrower frames have no title */
    uint64_t left_out;  /* bytes whose innermost frames are too narrow */
    uint64_t too_deep;  /* bytes below the last row */
};

/* The node that the visitor is at, and its parent, which is drawn if it is the root. */
const struct flame_node *plot_flame_found(const struct flame_visitor *visitor,
                                          const struct flame_node **up);

/* Writes the data files and notes the title of each frame. */
bool plot_flame_frames(const struct plot_flame *plot, const struct flame_layout *layout,
                       FILE *const files[], struct error *err);

#endif
