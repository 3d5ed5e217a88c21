/* How segments are divided into blocks and holes: at the dump, where the file says so, and at an
 * earlier moment of the trace, where it is derived.
 *
 * The segments of an earlier moment are those of the dump with every later segment_* event undone:
 * the state of a byte is given by the first later event that names it, or else by the dump. The
 * live allocations lie in these segments. The trace has only their requested sizes, but the
 * allocator's rules (allocator_rules.h) give the block sizes: a hole of the large pool is larger
 * than 1 MiB, so a smaller gap belongs to the block before it. Up to 1 MiB of a larger gap may also
 * belong to that block, if it was not split. This is decided by the address of another allocation
 * that began in the gap during the block's life, or by the block itself if it is still there at the
 * dump.
 *
 * Events that a full ring buffer lost are not needed, because they are the oldest; events after a
 * range are needed. */
#ifndef MEMSNAP_MODEL_LAYOUT_H
#define MEMSNAP_MODEL_LAYOUT_H

#include "model/allocator_rules.h"
#include "model/timeline.h"

enum span_state { SPAN_HOLE, SPAN_ALLOCATED, SPAN_PENDING };

struct layout_span {
    uint64_t addr, size;
    uint64_t requested; /* 0 for a hole */
    size_t owner; /* index of the block in the snapshot, or in the live list; unused for a hole */
    enum span_state state;
};

/* The spans cover the segment without gaps, except at the dump, where they are as in the file. */
struct layout_segment {
    uint64_t address, size; /* for an expandable segment: a stretch of mapped memory */
    int64_t stream;
    uint64_t pool[2]; /* (0, 0): the default pool; otherwise the pool of a CUDA graph */
    bool is_small, is_expandable;
    const struct layout_span *spans; /* by address; valid during the call */
    size_t span_count;
};

struct layout_visitor {
    void *self;
    bool (*segment)(void *self, const struct layout_segment *segment, struct error *err);
};

/* Visits every segment of the device in file order. */
bool layout_of_dump(const struct snapshot *snapshot, uint32_t device,
                    const struct layout_visitor *visitor, struct error *err);

/* Contradictions, and sizes that cannot be determined. */
struct layout_doubts {
    bool after_range; /* --range left out later events: there is no layout, and no other member is
                         set */
    uint64_t reserved_bytes; /* sum over the segments found, modulo 2^64: should equal the curve */
    uint64_t stray_blocks, stray_bytes; /* requested bytes of allocations that lie in no segment or
                                           inside another block */
    uint64_t unsure_bytes; /* bytes of holes that may belong to the blocks before them */
};

/* The reason why the layout is unreliable, or NULL. `reserved_bytes` is the curve's value. Unsure
 * bytes alone do not make it unreliable. */
const char *layout_doubts_text(const struct layout_doubts *doubts, int64_t reserved_bytes);

/* The layout after trace item `item`, sorted by address. `live` is timeline_live's list for that
 * item, in any order. `exact` enables the search that determines the sizes of blocks that were not
 * split, which takes a pass over all lifetimes; without it they count as unsure bytes. */
bool layout_at(const struct timeline *timeline, int64_t item, const struct live *live,
               size_t live_count, bool exact, const struct layout_visitor *visitor,
               struct layout_doubts *doubts, struct error *err);

#endif
