/* Pinned segments: those that one small block keeps from being released, and whose block that is.
 */
#ifndef MEMSNAP_ANALYSIS_POOL_PINNED_H
#define MEMSNAP_ANALYSIS_POOL_PINNED_H

#include "analysis/live/source.h"
#include "model/layout.h"

/* A segment of fixed size with one active block that takes at most a quarter of it. Replays of CUDA
 * graphs use the rest of the segments in their pools, so private pools have no pins. */
struct pin {
    uint64_t block_bytes, pinned_bytes; /* pinned_bytes: the rest of the segment */
    uint64_t addr;                      /* of the block */
    size_t owner;                       /* as in struct layout_span */
    struct live live;                   /* the block if has_live; else only its stack is valid */
    bool has_live;
};

struct pins {
    struct pin *items;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

void pins_init(struct pins *pins, struct budget *budget);
bool pins_add(struct pins *pins, const struct layout_segment *segment, struct error *err);
void pins_release(struct pins *pins);

/* Finds the allocations behind the pins, which come from layout_of_dump() or, for a live list, from
 * layout_at(). */
bool pins_resolve_dump(struct pins *pins, const struct timeline *timeline, struct error *err);
void pins_resolve_live(struct pins *pins, const struct live *live);

/* The memory pinned by the blocks of one call site and category. */
struct pin_row {
    uint64_t segments, block_bytes, pinned_bytes;
    uint64_t largest_bytes; /* the largest of the blocks */
    enum category category;
    stack_id stack;
    char *label; /* raw bytes, NUL-terminated */
};

struct pin_rows {
    struct pin_row *items; /* the largest pinned_bytes first; at most `most` */
    size_t count;
    size_t sites;                                 /* number of rows without that limit */
    uint64_t segments, block_bytes, pinned_bytes; /* of all */
};

/* `set` provides the timeline, sites and categories. */
bool pin_rows_make(const struct pins *pins, const struct live_set *set, size_t most,
                   struct pin_rows *rows, struct error *err);
void pin_rows_release(struct pin_rows *rows);

#endif
