/* How segments are cut up into blocks and holes: at the dump, where the file says so, and at an
 * earlier moment of the trace, where it follows.
 *
 * The segments of an earlier moment are those of the dump with every later segment_* event undone:
 * what a byte was then, the first later event that names it tells, else the dump. In them lie the
 * allocations that were live. The trace has only their requested sizes, but the allocator's rules
 * (allocator_rules.h) give the blocks: a hole of the large pool is larger than 1 MiB, so a lesser
 * gap belongs to the block before it. Where a gap is larger, part of it, up to 1 MiB, may still be
 * that block's, namely if it was not split: then the address where something else began in that
 * stretch during the block's life tells, or the block itself if it is still there at the dump.
 *
 * The oldest events, which a full ring loses, are not needed for this; those after a range are. */
#ifndef MEMSNAP_MODEL_LAYOUT_H
#define MEMSNAP_MODEL_LAYOUT_H

#include "model/allocator_rules.h"
#include "model/timeline.h"

enum span_state { SPAN_HOLE, SPAN_ALLOCATED, SPAN_PENDING };

struct layout_span {
    uint64_t addr, size;
    uint64_t requested; /* 0 for a hole */
    size_t owner;       /* block of the snapshot, or index in the live list; not of a hole */
    enum span_state state;
};

/* The spans tile it, but at the dump, where they are what the file says. */
struct layout_segment {
    uint64_t address, size; /* an expandable one: a stretch of mapped memory */
    int64_t stream;
    uint64_t pool[2]; /* (0, 0): the default pool, not that of a CUDA graph */
    bool is_small, is_expandable;
    const struct layout_span *spans; /* by address; valid during the call */
    size_t span_count;
};

struct layout_visitor {
    void *self;
    bool (*segment)(void *self, const struct layout_segment *segment, struct error *err);
};

/* Every segment of the device, in the order of the file. */
bool layout_of_dump(const struct snapshot *snapshot, uint32_t device,
                    const struct layout_visitor *visitor, struct error *err);

/* What does not add up, or cannot be known. */
struct layout_doubts {
    bool after_range;        /* --range left out later events: no layout, and nothing else is set */
    uint64_t reserved_bytes; /* of the segments found, modulo 2^64: the curve should say the same */
    uint64_t stray_blocks, stray_bytes; /* requested: live in no segment, or inside another block */
    uint64_t unsure_bytes;              /* of holes: may belong to the blocks before them */
};

/* Why the layout is not to be relied on; NULL where it is. `reserved_bytes` is the curve's value.
 * Unsure bytes are no reason. */
const char *layout_doubts_text(const struct layout_doubts *doubts, int64_t reserved_bytes);

/* The layout after trace item `item`, by address. `live` is timeline_live's list for it, in any
 * order. `exact` asks for the search that settles blocks that were not split, which takes a pass
 * over all lifetimes; without it they are among the unsure bytes. */
bool layout_at(const struct timeline *timeline, int64_t item, const struct live *live,
               size_t live_count, bool exact, const struct layout_visitor *visitor,
               struct layout_doubts *doubts, struct error *err);

#endif
