/* Which memory was reserved at a moment of the trace. */
#ifndef MEMSNAP_MODEL_LAYOUT_SEGMENTS_H
#define MEMSNAP_MODEL_LAYOUT_SEGMENTS_H

#include "model/layout.h"

enum segment_class { CLASS_UNKNOWN, CLASS_SMALL, CLASS_LARGE };

/* A segment, or of an expandable one a mapped stretch that no other touches. */
struct reserved_piece {
    uint64_t start, end;
    uint32_t source; /* the range it was found in: internal */
    bool is_expandable;
    uint8_t class; /* enum segment_class: unknown for an expandable one that is not in the dump */
    int64_t stream;
    uint64_t pool[2];
};

struct reserved_pieces {
    struct reserved_piece *items; /* by address, without overlap */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* After trace item `item`. What a contradictory file claims twice counts once, from the first event
 * on that names it. n log n in the segments and the segment events after the item. */
bool reserved_pieces_make(const struct timeline *timeline, int64_t item,
                          struct reserved_pieces *pieces, struct error *err);
void reserved_pieces_release(struct reserved_pieces *pieces);

#endif
