/* Every segment of a device and what is in it at a moment, in the order in which a picture shows
 * them: by pool, the largest pool first, and in a pool the largest segment first. */
#ifndef MEMSNAP_ANALYSIS_POOL_SEGMENT_MAP_H
#define MEMSNAP_ANALYSIS_POOL_SEGMENT_MAP_H

#include "analysis/pool/pools.h"

/* Of what no block tells in a segment that the file says is larger: after enum span_state. */
#define SPAN_UNTOLD (SPAN_PENDING + 1)

/* A block or a hole. */
struct map_span {
    uint64_t size;
    stack_id stack;     /* that allocated it; STACK_NONE for a hole, or where unknown */
    uint8_t state;      /* enum span_state, or SPAN_UNTOLD */
    bool is_releasable; /* a hole that could go back to the device, at least most of it.. */
    bool after_graph;   /* ..but only once the CUDA graph of its pool is gone */
};

struct map_segment {
    uint64_t address, size; /* the sum of its spans, and of nothing else */
    size_t first_span, span_count;
    uint32_t pool; /* in pools */
    bool is_empty; /* nothing active in it */
};

struct segment_map {
    struct pool_rows pools; /* the last one may be a remainder */
    struct map_segment *segments;
    struct map_span *spans;
    size_t segment_count, span_count, segment_capacity, span_capacity;
    uint64_t bytes; /* of all */
    uint64_t untold_bytes;
    uint64_t empty_bytes; /* of segments with nothing in them */
    uint64_t empty_segments;
    size_t largest_segment, largest_span; /* the largest hole; NO_HOLE */
    struct layout_doubts doubts;          /* of a moment before the dump */
    struct budget *budget;                /* not owned */
};

#define NO_HOLE SIZE_MAX

/* After trace item `item`; at the dump with MAP_DUMP. STATUS_USAGE, saying why, where the layout of
 * that moment is not known. */
#define MAP_DUMP INT64_MIN
bool segment_map_make(struct segment_map *map, const struct timeline *timeline, int64_t item,
                      struct error *err);
void segment_map_release(struct segment_map *map); /* fine for what was never made */

#endif
