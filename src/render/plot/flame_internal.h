/* The picture of call stacks: a row a frame, the outermost on top, as wide as what is live below
 * it. This is what its parts share. */
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

/* Where frames go: x in bytes, y in rows from the top, of which the first is for everything. */
struct flame_layout {
    double pixel;       /* bytes */
    double row;         /* pixels */
    double graph_rows;  /* that the graph is high */
    size_t rows;        /* that are drawn */
    uint64_t narrowest; /* bytes; what is narrower is left out, */
    uint64_t told;      /* and what is narrower than this has no title */
    uint64_t left_out;  /* bytes whose innermost frames are too narrow, or */
    uint64_t too_deep;  /* beyond the last row */
};

/* The node that the visitor is at, and its parent, which is drawn if it is the root. */
const struct flame_node *plot_flame_found(const struct flame_visitor *visitor,
                                          const struct flame_node **up);

/* The data files, and what to tell of each frame. */
bool plot_flame_frames(const struct plot_flame *plot, const struct flame_layout *layout,
                       FILE *const files[], struct error *err);

#endif
