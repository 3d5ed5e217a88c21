/* The division of a device's reserved memory among the allocator's pools, which are separate for
 * small and large requests, streams, and CUDA graphs. No pool lends memory to another. */
#ifndef MEMSNAP_ANALYSIS_POOL_POOLS_H
#define MEMSNAP_ANALYSIS_POOL_POOLS_H

#include "base/idtable.h"
#include "model/layout.h"

#define POOL_ROWS_MOST 64 /* the rest is summed up in the last row */

struct pool_key {
    bool is_small;
    int64_t stream;
    uint64_t pool[2]; /* (0, 0) is the default pool */
};

/* A stream as shown to people: "0", or a hexadecimal address such as "0x55d08a317c40". */
#define STREAM_TEXT_SIZE 24
const char *stream_text(char out[STREAM_TEXT_SIZE], int64_t stream);

/* "large", "small, stream 0x7, graph pool (0, 3)": a pool's name for people. */
#define POOL_TEXT_SIZE 128
const char *pool_text(char out[POOL_TEXT_SIZE], const struct pool_key *key);

/* All sizes except requested_bytes are of blocks, so reserved = active + inactive split +
 * releasable, unless the file contradicts itself. */
struct pool_row {
    struct pool_key key; /* in a remainder, that of its first pool */
    uint64_t pools;      /* 1, or the number of pools in a remainder */
    uint64_t segments;
    uint64_t reserved_bytes;
    uint64_t allocated_bytes, active_bytes, requested_bytes; /* requested_bytes: of active blocks */
    uint64_t inactive_split_bytes; /* holes beside active blocks: cannot be released */
    uint64_t releasable_bytes; /* whole segments, and pages of expandable ones, without any active
                                  block */
    /* The part of releasable_bytes in private pools: releasable once no CUDA graph uses them. */
    uint64_t after_graphs_bytes;
    uint64_t largest_hole_bytes;
    /* The parts of reserved and active bytes in segments that cannot expand and are in use. */
    uint64_t fixed_reserved_bytes, fixed_active_bytes;
};

struct pool_rows {
    struct pool_row *items; /* largest first */
    size_t count, capacity;
    struct pool_row total;
    struct idtable table; /* while rows are added */
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void pool_rows_init(struct pool_rows *rows, struct budget *budget);
/* `*row`, which may be NULL, is set to the segment's index in items, valid until
 * pool_rows_finish(). */
bool pool_rows_add(struct pool_rows *rows, const struct layout_segment *segment, size_t *row,
                   struct error *err);
/* Sorts the rows, once all are added, and sums up those beyond POOL_ROWS_MOST. */
void pool_rows_finish(struct pool_rows *rows);
void pool_rows_release(struct pool_rows *rows); /* also of a zeroed struct */

/* The bytes of a hole that can be released to the device, as a whole segment or in whole pages. The
 * allocator does so at empty_cache() and before a request fails; in a private pool, only once its
 * CUDA graphs are gone. `is_whole`: nothing in the segment is active. */
uint64_t pool_releasable(const struct layout_segment *segment, const struct layout_span *hole,
                         bool is_whole);
bool pool_segment_is_whole(const struct layout_segment *segment);

struct pool_key pool_key_of(const struct layout_segment *segment);
bool pool_key_equal(const struct pool_key *a, const struct pool_key *b);

/* True for the pool that the capture of a CUDA graph made. PyTorch numbers such pools in the first
 * part, and those that a program makes (torch.cuda.MemPool, graph_pool_handle()) in the second. */
static inline bool pool_key_is_captured(const struct pool_key *key)
{
    return key->pool[0] != 0;
}

/* True for the pools of CUDA graphs and of torch.cuda.MemPool, false for the default pool. */
static inline bool pool_key_is_private(const struct pool_key *key)
{
    return key->pool[0] != 0 || key->pool[1] != 0;
}

/* Reserved bytes that are neither active nor in a hole: not 0 only if the file contradicts itself.
 */
static inline int64_t pool_row_unexplained(const struct pool_row *row)
{
    return (int64_t)(row->reserved_bytes - row->active_bytes - row->inactive_split_bytes -
                     row->releasable_bytes);
}

#endif
