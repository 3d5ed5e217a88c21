/* A model of PyTorch's CUDA caching allocator (the native back end, one device) that gives out
 * addresses and owns no memory. It makes the same decisions as torch, call by call. allocator.c
 * says for each rule where it stands in torch, and since which version.
 *
 * Not modelled: cudaMallocAsync, memory pools with use_on_oom or no_split, and
 * expandable_segments_reserve. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_ALLOCATOR_H
#define MEMSNAP_ANALYSIS_REPLAY_ALLOCATOR_H

#include "analysis/replay/block_set.h"
#include "model/allocator_rules.h"

/* How torch orders free blocks of one size. */
enum tie_break {
    TIE_ADDRESS, /* up to 2.11: by address */
    TIE_BLOCK,   /* 2.12: by when the block was split off or made */
    TIE_SEGMENT, /* since 2.13: by when the segment was made, then by address */
    TIE_BREAKS,
};

/* Settings of PYTORCH_CUDA_ALLOC_CONF that change where memory comes from. */
struct allocator_settings {
    struct allocator_rules rules;
    uint64_t non_split_rounding; /* max_non_split_rounding_mb, in bytes */
    uint64_t large_segment;      /* large_segment_size_mb, in bytes */
    double memory_fraction;      /* per_process_memory_fraction; 0: not set */
};

#define ALLOCATOR_SETTINGS_DEFAULT                                                                 \
    ((struct allocator_settings){.rules = {.is_known = true, .max_split_size = UINT64_MAX},        \
                                 .non_split_rounding = ALLOCATOR_LARGE_SEGMENT,                    \
                                 .large_segment = ALLOCATOR_LARGE_SEGMENT})

#define CAPACITY_NONE UINT64_MAX

struct allocator_device {
    uint64_t capacity; /* bytes that the driver can give, or CAPACITY_NONE */
    uint64_t total;    /* memory of the device: the address range of an expandable segment */
    uint64_t allowed;  /* by set_per_process_memory_fraction(), or CAPACITY_NONE */
};

/* A pool and a stream; blocks of another place never serve a request. */
struct allocator_place {
    uint64_t pool[2]; /* (0, 0): the default pool */
    int64_t stream;
    uint32_t pool_index; /* equal for places of one pool */
};

struct allocator_places {
    const struct allocator_place *items;
    size_t count, pool_count;
};

/* Where new memory lies. Without these functions addresses ascend in steps of 2 MiB. */
struct allocator_source {
    void *self;
    uint64_t (*segment)(void *self, uint64_t size); /* cudaMalloc */
    uint64_t (*range)(void *self, uint64_t size);   /* addresses for an expandable segment */
    void (*mapped)(void *self, uint64_t addr, uint64_t size);
};

struct allocator_totals {
    uint64_t reserved, peak_reserved;
    uint64_t allocated, peak_allocated;     /* sizes of blocks */
    uint64_t allocated_at_peak;             /* when reserved memory first reached its peak */
    uint64_t segment_allocs, segment_frees; /* or mappings and unmappings */
    uint64_t retries, ooms;
};

struct allocator;

/* NULL on failure. `places`, `source` and `budget` must outlive the allocator; `source` may be
 * NULL. */
struct allocator *allocator_create(const struct allocator_settings *settings,
                                   const struct allocator_device *device, enum tie_break tie_break,
                                   const struct allocator_places *places,
                                   const struct allocator_source *source, struct budget *budget,
                                   struct error *err);
void allocator_destroy(struct allocator *allocator); /* NULL is allowed */

/* Sets `*block` to the block that serves the request, or to NULL if the allocator is out of memory.
 * False only on failure. This is so for all functions below: STATUS_LIMIT, if the budget is
 * exhausted or a trace asks for more work than any real one. */
bool allocator_malloc(struct allocator *allocator, uint32_t place, uint64_t requested,
                      struct memory_block **block, struct error *err);
/* To be called when the program frees the block in the slot, which another stream may still use.
 * The slot must not move until the free is completed: a release of cached memory may complete it,
 * and sets the slot to NULL. A slot that is NULL has no effect here and below. */
bool allocator_free_requested(struct allocator *allocator, struct memory_block **slot,
                              struct error *err);
/* To be called when the block can be used again. Sets the slot to NULL. */
bool allocator_free_completed(struct allocator *allocator, struct memory_block **slot,
                              struct error *err);
bool allocator_empty_cache(struct allocator *allocator, struct error *err);
/* To be called when the graph that owns the pool is gone, so that its memory may be released. */
void allocator_end_pool(struct allocator *allocator, uint32_t place);

const struct allocator_totals *allocator_totals(const struct allocator *allocator);

/* To start in the middle of a program, and to follow a recording: */

/* A live part of a segment. */
struct start_block {
    uint64_t addr, size;
    uint32_t slot; /* index of its block in the caller's array */
    bool is_pending;
};

/* A segment, or a stretch of mapped memory of an expandable one. */
struct start_segment {
    uint64_t addr, size;
    uint64_t range_start; /* expandable: the lowest address of its range, which stretches share */
    uint32_t place;
    bool is_small, is_expandable;
    const struct start_block *blocks; /* by address, without overlap; the rest is free */
    size_t block_count;
};

/* Adds a segment. All stretches of a range are added one after the other, by address. Writes the
 * block of every start_block to slots[slot]. */
bool allocator_add_segment(struct allocator *allocator, const struct start_segment *segment,
                           struct memory_block **slots, struct error *err);
/* Must follow the last segment. */
bool allocator_end_segments(struct allocator *allocator, struct error *err);

/* From now on the free blocks can be found by address, as the functions below need it. */
bool allocator_follow(struct allocator *allocator, struct error *err);
/* Both release exactly this memory. `*done` is false, and nothing changes, if the model could not
 * have released it. */
bool allocator_force_free(struct allocator *allocator, uint64_t addr, uint64_t size, bool *done,
                          struct error *err);
bool allocator_force_unmap(struct allocator *allocator, uint64_t addr, uint64_t size, bool *done,
                           struct error *err);
/* Maps pages at the beginning of an unmapped part of an expandable segment. */
bool allocator_force_map(struct allocator *allocator, uint32_t place, bool is_small, uint64_t addr,
                         uint64_t size, bool *done, struct error *err);

#endif
