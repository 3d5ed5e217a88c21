/* The memory that was reserved at a moment of the trace. */
#ifndef MEMSNAP_MODEL_LAYOUT_SEGMENTS_H
#define MEMSNAP_MODEL_LAYOUT_SEGMENTS_H

#include "model/layout.h"

enum segment_class { CLASS_UNKNOWN, CLASS_SMALL, CLASS_LARGE };

/* A segment, or a maximal mapped stretch of an expandable segment. */
struct reserved_piece {
    uint64_t start, end;
    uint32_t source; /* internal: the range it came from */
    bool is_expandable;
    uint8_t class; /* enum segment_class; CLASS_UNKNOWN for an expandable segment that is not in the
                      dump */
    int64_t stream;
    uint64_t pool[2];
};

struct reserved_pieces {
    struct reserved_piece *items; /* by address, without overlap */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* The pieces after trace item `item`. Memory that a contradictory file claims twice counts once,
 * for the first later event that names it. Takes O(n log n) for n segments and segment events after
 * the item. */
bool reserved_pieces_make(const struct timeline *timeline, int64_t item,
                          struct reserved_pieces *pieces, struct error *err);
/* The piece that holds an address, or NULL. */
const struct reserved_piece *reserved_piece_at(const struct reserved_pieces *pieces, uint64_t addr);
void reserved_pieces_release(struct reserved_pieces *pieces);

#endif
