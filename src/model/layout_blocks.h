/* The blocks of the allocations that were live at a moment. */
#ifndef MEMSNAP_MODEL_LAYOUT_BLOCKS_H
#define MEMSNAP_MODEL_LAYOUT_BLOCKS_H

#include "model/layout_segments.h"

#define NO_PIECE SIZE_MAX

struct placed_block {
    uint64_t addr, size, requested;
    size_t owner;    /* in the live list */
    size_t piece;    /* NO_PIECE: lies in no piece, or inside another block */
    uint64_t limit;  /* where the next block begins, or the piece ends */
    uint64_t unsure; /* bytes after the block that may be part of it */
    bool is_pending;
};

struct placed_blocks {
    struct placed_block *items; /* by address */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Also decides the class of pieces that are CLASS_UNKNOWN. */
bool placed_blocks_make(const struct timeline *timeline, int64_t item, const struct live *live,
                        size_t live_count, struct reserved_pieces *pieces,
                        struct placed_blocks *blocks, struct error *err);
/* Settles unsure sizes as far as the trace and the dump allow. */
bool placed_blocks_settle(const struct timeline *timeline, const struct live *live,
                          struct placed_blocks *blocks, struct error *err);
void placed_blocks_release(struct placed_blocks *blocks);

#endif
