/* Where the blocks of a device lay, and what was reserved, at every moment of a trace.
 *
 * Moment m is after the first m items of the trace: 0 is before the first one. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_LIVES_H
#define MEMSNAP_ANALYSIS_REPLAY_LIVES_H

#include "analysis/replay/program.h"
#include "base/buffer.h"
#include "model/layout_segments.h"

#define MOMENT_NEVER UINT32_MAX
#define LIVES_BYTES  ((size_t)2 << 20) /* at most this many are packed */
#define LIVES_PIECES 10000

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
    uint64_t addresses;        /* LIVES_REPLAYED: how many allocations had their addresses compared,
                                  all of which the replay reproduced */
    struct block_life *blocks; /* all of them, by address */
    size_t block_count, block_capacity;
    struct piece_life *pieces; /* those that are kept, by address */
    size_t piece_count, piece_capacity;
    /* The blocks that are kept, as numbers in LEB128. Each pair of an address and a size, in
     * ascending order, is three numbers: the difference of the address to the one before, the size,
     * and the number of its lives. Each of these lives, in the order of their beginnings, is two or
     * three numbers:
     *   1. the difference of `from` to that of the life before
     *   2. twice the number of its moments, or 0 if it does not end; plus 1 if there is a third
     *   3. 0 if the block never waits, else 1 plus the number of moments before it waits
     * Without the third number, a block that ends waits at its last moment only, and a block that
     * does not end never waits. */
    struct buffer packed;
    uint32_t last; /* moment */
    uint32_t peak; /* moment of the peak of active memory */
    /* Only the moments that `stride` divides, `peak` and `last` have all their blocks and pieces.
     * LIVES_DUMP: only `last` does. */
    uint32_t stride;
    struct budget *budget; /* not owned */
};

/* Release it even after failure. */
bool lives_make(struct lives *lives, const struct timeline *timeline, struct site_table *sites,
                struct error *err);
void lives_release(struct lives *lives);

/* lives_pieces.c: appends the pieces of a trace that reaches the dump. */
bool lives_add_pieces(struct lives *lives, const struct timeline *timeline, struct error *err);
/* lives_pack.c: packs the blocks and pieces of fewer moments until they fit. `*fits` is false if
 * even one moment has too many. */
bool lives_pack(struct lives *lives, bool *fits, struct error *err);

#endif
