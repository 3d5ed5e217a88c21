/* How PyTorch's caching allocator cuts up device memory: the sizes and rules of
 * c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h (CUDAAllocatorConfig.h before
 * torch 2.9), the same since torch 1.x but where noted.
 *
 * A request is rounded, then served by the smallest free block of its own pool that is large enough
 * (small or large requests, private pool of a CUDA graph, stream: none shares with another), from
 * the front of that block. What is left over becomes a free block of its own if it is large enough
 * to be worth it; else it stays with the allocation. Without such a block a new segment comes from
 * cudaMalloc. Before an error is raised every segment that lies wholly free in the default pool
 * goes back to the device, and cudaMalloc is tried again. */
#ifndef MEMSNAP_MODEL_ALLOCATOR_RULES_H
#define MEMSNAP_MODEL_ALLOCATOR_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct snapshot;

#define ALLOCATOR_MIN_BLOCK     UINT64_C(512)      /* kMinBlockSize: every size is a multiple */
#define ALLOCATOR_SMALL_REQUEST UINT64_C(1048576)  /* kSmallSize: the largest of the small pool */
#define ALLOCATOR_SMALL_SEGMENT UINT64_C(2097152)  /* kSmallBuffer: a segment of the small pool */
#define ALLOCATOR_LARGE_SEGMENT UINT64_C(20971520) /* kLargeBuffer: for what is below the next */
#define ALLOCATOR_OWN_SEGMENT   UINT64_C(10485760) /* kMinLargeAlloc: from here on its own size.. */
#define ALLOCATOR_ROUND_LARGE   UINT64_C(2097152)  /* kRoundLarge: ..up to a multiple of this */
/* An expandable segment is mapped in pages of SMALL_SEGMENT or LARGE_SEGMENT, by its pool. */

#define ALLOCATOR_DIVISIONS 16 /* kRoundUpPowerOfTwoIntervals: requests of 1, 2, 4 .. 32768 MiB */

/* The settings in force at the dump. */
struct allocator_rules {
    bool is_known; /* false: the file carries no settings; the rest are the defaults */
    bool expandable_segments;
    uint64_t max_split_size;                 /* UINT64_MAX: no limit */
    double gc_threshold;                     /* garbage_collection_threshold; 0: off */
    uint64_t divisions[ALLOCATOR_DIVISIONS]; /* roundup_power2_divisions; below 2: off */
};

/* Looked up among all settings: a loaded snapshot has it as `rules`. */
struct allocator_rules allocator_rules_of(const struct snapshot *snapshot);

/* A block for a request, before anything that is not worth splitting off. UINT64_MAX where the
 * result has more than 64 bits. */
uint64_t allocator_round(const struct allocator_rules *rules, uint64_t requested);
/* The cudaMalloc for a block of that size. UINT64_MAX likewise. */
uint64_t allocator_segment_size(uint64_t rounded);
/* `size` up to a multiple of `granule`. UINT64_MAX likewise. */
uint64_t allocator_round_up(uint64_t size, uint64_t granule);

static inline bool allocator_is_small(uint64_t rounded)
{
    return rounded <= ALLOCATOR_SMALL_REQUEST;
}

/* What an expandable segment grows and shrinks by. */
static inline uint64_t allocator_page(bool is_small)
{
    return is_small ? ALLOCATOR_SMALL_SEGMENT : ALLOCATOR_LARGE_SEGMENT;
}

#endif
