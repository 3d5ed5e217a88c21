/* How PyTorch's caching allocator divides device memory: the sizes and rules of
 * c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h (CUDAAllocatorConfig.h before
 * torch 2.9), unchanged since torch 1.x except where noted.
 *
 * A request is rounded, then served from the front of the smallest free block of its own pool that
 * is large enough. Pools are separate for small and large requests, for each private pool of a CUDA
 * graph and for each stream. The rest of the block becomes a free block of its own if it is large
 * enough to be worth it; otherwise it stays with the allocation. If no free block fits, a new
 * segment comes from cudaMalloc. Before an out-of-memory error, every segment of the default pool
 * that is entirely free is returned to the device, and cudaMalloc is tried again. */
#ifndef MEMSNAP_MODEL_ALLOCATOR_RULES_H
#define MEMSNAP_MODEL_ALLOCATOR_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct snapshot;

#define ALLOCATOR_MIN_BLOCK     UINT64_C(512)      /* kMinBlockSize: every size is a multiple */
#define ALLOCATOR_SMALL_REQUEST UINT64_C(1048576)  /* kSmallSize: largest small request */
#define ALLOCATOR_SMALL_SEGMENT UINT64_C(2097152)  /* kSmallBuffer: segment of the small pool */
#define ALLOCATOR_LARGE_SEGMENT UINT64_C(20971520) /* kLargeBuffer: requests below OWN_SEGMENT */
#define ALLOCATOR_OWN_SEGMENT   UINT64_C(10485760) /* kMinLargeAlloc: requests with own segments */
#define ALLOCATOR_ROUND_LARGE   UINT64_C(2097152)  /* kRoundLarge: rounding of own segments */
/* An expandable segment is mapped in pages of SMALL_SEGMENT or LARGE_SEGMENT, by its pool. */

#define ALLOCATOR_DIVISIONS 16 /* kRoundUpPowerOfTwoIntervals: requests of 1, 2, 4 .. 32768 MiB */

/* The settings in force at the dump. */
struct allocator_rules {
    bool is_known; /* false: the file has no settings and the other members are defaults */
    bool expandable_segments;
    uint64_t max_split_size;                 /* UINT64_MAX: no limit */
    double gc_threshold;                     /* garbage_collection_threshold; 0: off */
    uint64_t divisions[ALLOCATOR_DIVISIONS]; /* roundup_power2_divisions; below 2: off */
};

/* Searches all settings, which is slow: a loaded snapshot has the result in `rules`. */
struct allocator_rules allocator_rules_of(const struct snapshot *snapshot);

/* The block size for a request, before the remainder of a block that is not split is added.
 * UINT64_MAX if the result exceeds 64 bits. */
uint64_t allocator_round(const struct allocator_rules *rules, uint64_t requested);
/* The cudaMalloc size for a block of that size. UINT64_MAX as above. */
uint64_t allocator_segment_size(uint64_t rounded);
/* Rounds `size` up to a multiple of `granule`. UINT64_MAX as above. */
uint64_t allocator_round_up(uint64_t size, uint64_t granule);

static inline bool allocator_is_small(uint64_t rounded)
{
    return rounded <= ALLOCATOR_SMALL_REQUEST;
}

/* The page size in which an expandable segment is mapped and unmapped. */
static inline uint64_t allocator_page(bool is_small)
{
    return is_small ? ALLOCATOR_SMALL_SEGMENT : ALLOCATOR_LARGE_SEGMENT;
}

#endif
