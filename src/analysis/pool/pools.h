/* How the reserved memory of a device is divided among the allocator's pools: small and large
 * requests, the private pools of CUDA graphs, streams. None lends to another. */
#ifndef MEMSNAP_ANALYSIS_POOL_POOLS_H
#define MEMSNAP_ANALYSIS_POOL_POOLS_H

#include "base/idtable.h"
#include "model/layout.h"

#define POOL_ROWS_MOST 64 /* the others are summed up in a last row */

struct pool_key {
    bool is_small;
    int64_t stream;
    uint64_t pool[2]; /* (0, 0): the default one */
};

/* A stream for people: "0", or in hexadecimal like other addresses, "0x55d08a317c40". */
#define STREAM_TEXT_SIZE 24
const char *stream_text(char out[STREAM_TEXT_SIZE], int64_t stream);

/* All sizes but the requested ones are those of blocks, so
 * reserved = active + inactive split + releasable, unless the file contradicts itself. */
struct pool_row {
    struct pool_key key; /* of the first one, in a remainder */
    uint64_t pools;      /* 1, or how many a remainder stands for */
    uint64_t segments;
    uint64_t reserved_bytes;
    uint64_t allocated_bytes, active_bytes, requested_bytes; /* requested: of what is active */
    uint64_t inactive_split_bytes; /* holes beside something active: stay */
    uint64_t releasable_bytes; /* segments, and pages of expandable ones, without anything active */
    /* Of these, what lies in private pools: it goes back only when no CUDA graph uses them. */
    uint64_t after_graphs_bytes;
    uint64_t largest_hole_bytes;
    /* Of reserved and of active: in segments that cannot expand and are not releasable. */
    uint64_t fixed_reserved_bytes, fixed_active_bytes;
};

struct pool_rows {
    struct pool_row *items; /* largest first */
    size_t count, capacity;
    struct pool_row total;
    struct idtable table; /* while they are made */
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void pool_rows_init(struct pool_rows *rows, struct budget *budget);
/* `*row`: its place in items until they are finished; may be NULL. */
bool pool_rows_add(struct pool_rows *rows, const struct layout_segment *segment, size_t *row,
                   struct error *err);
/* Once all are added: sorts, and sums up what is beyond POOL_ROWS_MOST. */
void pool_rows_finish(struct pool_rows *rows);
void pool_rows_release(struct pool_rows *rows); /* fine for what was never made */

/* What of a hole can go back to the device as a whole segment or page: at empty_cache(), and before
 * a request fails, but in a private pool only once its CUDA graphs are gone. `is_whole`: nothing is
 * active in the segment. */
uint64_t pool_releasable(const struct layout_segment *segment, const struct layout_span *hole,
                         bool is_whole);
bool pool_segment_is_whole(const struct layout_segment *segment);

struct pool_key pool_key_of(const struct layout_segment *segment);
bool pool_key_equal(const struct pool_key *a, const struct pool_key *b);

/* Of CUDA graphs, not the default pool. */
static inline bool pool_key_is_private(const struct pool_key *key)
{
    return key->pool[0] != 0 || key->pool[1] != 0;
}

/* Reserved bytes that are neither active nor in a hole: 0 unless the file contradicts itself. */
static inline int64_t pool_row_unexplained(const struct pool_row *row)
{
    return (int64_t)(row->reserved_bytes - row->active_bytes - row->inactive_split_bytes -
                     row->releasable_bytes);
}

#endif
