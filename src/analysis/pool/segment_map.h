/* Every segment of a device and its contents at one moment, in the order of a picture: by pool, the
 * largest pool first, and within a pool the largest segment first. */
#ifndef MEMSNAP_ANALYSIS_POOL_SEGMENT_MAP_H
#define MEMSNAP_ANALYSIS_POOL_SEGMENT_MAP_H

#include "analysis/pool/pools.h"

/* State of the part of a segment that no block covers; follows the values of enum span_state. */
#define SPAN_UNTOLD (SPAN_PENDING + 1)

/* A block or a hole. */
struct map_span {
    uint64_t size;
    stack_id stack;     /* of its allocation; STACK_NONE for a hole or if unknown */
    string_id note;     /* annotations of its allocation, or STRING_EMPTY */
    uint8_t state;      /* enum span_state, or SPAN_UNTOLD */
    bool is_releasable; /* a hole, most of which could be released to the device */
    bool after_graph;   /* is_releasable, but only once the CUDA graph of its pool is gone */
};

struct map_segment {
    uint64_t address, size; /* size: the sum of its spans */
    size_t first_span, span_count;
    uint32_t pool; /* in pools */
    bool is_empty; /* nothing active in it */
};

struct segment_map {
    struct pool_rows pools; /* the last one may be a remainder */
    struct map_segment *segments;
    struct map_span *spans;
    size_t segment_count, span_count, segment_capacity, span_capacity;
    uint64_t bytes; /* of all segments */
    uint64_t untold_bytes;
    uint64_t empty_bytes; /* of segments with nothing active */
    uint64_t empty_segments;
    size_t largest_segment, largest_span; /* of the largest hole, or NO_HOLE */
    struct layout_doubts doubts;          /* of a moment before the dump */
    struct budget *budget;                /* not owned */
};

#define NO_HOLE SIZE_MAX

/* The map after trace item `item`, or of the dump with MAP_DUMP. STATUS_USAGE with the reason if
 * the layout at that moment is unknown. */
#define MAP_DUMP INT64_MIN
bool segment_map_make(struct segment_map *map, const struct timeline *timeline, int64_t item,
                      struct error *err);
void segment_map_release(struct segment_map *map); /* also of a zeroed struct */

#endif
