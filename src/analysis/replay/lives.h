/* Where the blocks of a device lay, and what was reserved, at every moment of a trace.
 *
 * Moment m is after the first m items of the trace: 0 is before the first one. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_LIVES_H
#define MEMSNAP_ANALYSIS_REPLAY_LIVES_H

#include "analysis/replay/program.h"
#include "model/layout_segments.h"

#define MOMENT_NEVER UINT32_MAX

enum lives_source {
    LIVES_REPLAYED, /* by a replay with the settings of the capture, which is exact */
    LIVES_RECORDED, /* by the trace: requested sizes, rounded up as the allocator does */
    LIVES_DUMP,     /* only the last moment is known */
    LIVES_NONE,     /* no moment is */
};

/* Exists at the moments [from, to); from `pending` on it waits to be freed. */
struct block_life {
    uint64_t addr, size;
    uint32_t from, pending, to;
};

/* A segment, or a part of an expandable one, reserved at the moments [from, to). */
struct piece_life {
    uint64_t addr, size;
    int64_t stream;
    uint64_t pool[2]; /* (0, 0): the default pool */
    uint32_t from, to;
    uint8_t class; /* enum segment_class */
    bool is_expandable;
};

struct lives {
    enum lives_source source;
    char why[232];             /* why the source is not a replay; "" if it is */
    uint64_t addresses;        /* of the trace, all of which the replay reproduced */
    struct block_life *blocks; /* by address, then by `from`; the pieces too */
    size_t block_count, block_capacity;
    struct piece_life *pieces;
    size_t piece_count, piece_capacity;
    uint32_t last; /* moment */
    uint32_t peak; /* moment of the peak of active memory */
    /* Only the moments that `stride` divides, `peak` and `last` have all their blocks and pieces.
     * LIVES_DUMP: only `last` does. */
    uint32_t stride;
    struct budget *budget; /* not owned */
};

/* Keeps at most `most` blocks and pieces in all. Release it even after failure. */
bool lives_make(struct lives *lives, const struct timeline *timeline, struct site_table *sites,
                size_t most, struct error *err);
void lives_release(struct lives *lives);

/* lives_pieces.c: appends the pieces of a trace that reaches the dump. */
bool lives_add_pieces(struct lives *lives, const struct timeline *timeline, struct error *err);
/* lives_thin.c: keeps the blocks and pieces of fewer moments until there are at most `most`, and
 * sorts them. False if even one moment has more. */
bool lives_thin(struct lives *lives, size_t most);

#endif
