/* The program that a trace recorded: every request, free and release of one device, without
 * addresses, so that it can be run with other settings of the allocator. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_PROGRAM_H
#define MEMSNAP_ANALYSIS_REPLAY_PROGRAM_H

#include "analysis/code/site.h"
#include "analysis/replay/allocator.h"
#include "model/timeline.h"

enum program_step_kind {
    STEP_MALLOC,
    STEP_FREE_REQUESTED, /* only if other calls come before STEP_FREE_COMPLETED */
    STEP_FREE_COMPLETED,
    STEP_TRY,         /* a request that ran out of memory; if it fits, it is freed at once */
    STEP_EMPTY_CACHE, /* torch.cuda.empty_cache(), or what looks like it */
    STEP_END_POOL,    /* the graph of a private pool is gone */
};

struct program_step {
    uint64_t size; /* requested */
    uint32_t item; /* of the trace */
    uint32_t slot; /* of an allocation; reused after it is freed */
    uint32_t place;
    uint8_t kind; /* enum program_step_kind */
};

/* A range of trace items. */
struct item_range {
    size_t from, to;
};

struct program {
    const struct timeline *timeline; /* not owned */
    struct item_range range;
    /* State before the first item. */
    struct start_segment *segments;
    size_t segment_count, segment_capacity;
    struct start_block *blocks; /* by address: segments point here */
    size_t block_count, block_capacity;
    /* A request for each block that was live before the first item, by address; then the events of
     * the range. */
    struct program_step *steps;
    size_t step_count, step_capacity, start_count;
    size_t slot_count;
    struct allocator_place *places;
    size_t place_count, place_capacity, pool_count;
    uint64_t empty_caches, retries, ooms; /* in the range; retries: releases before an error */
    uint64_t oom_capacity; /* most that the driver could give, as an oom event says; 0: unknown */
    bool is_whole;         /* nothing was reserved before: the recording has the whole program */
    struct budget *budget; /* not owned */
};

/* Why a trace cannot be replayed: a literal, or NULL if it can be. */
const char *program_obstacle(const struct timeline *timeline);

/* STATUS_BAD_INPUT if the trace contradicts itself. `sites` may be NULL; then releases by
 * empty_cache() are recognised only by what follows them. */
bool program_make(const struct timeline *timeline, struct site_table *sites,
                  struct item_range range, struct program *program, struct error *err);
void program_release(struct program *program);

#define USUAL_DEVICE (UINT64_C(80) << 30) /* bytes: assumed for a device of unknown size */

/* The memory of the device: `said_bytes`, or a guess if that is 0. It decides only how many
 * addresses an expandable segment has. */
uint64_t program_device_total(const struct timeline *timeline, uint64_t said_bytes);

static inline struct allocator_places program_places(const struct program *program)
{
    return (struct allocator_places){program->places, program->place_count, program->pool_count};
}

#endif
