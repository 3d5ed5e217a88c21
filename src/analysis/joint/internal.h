/* The steps of a join. Internal to analysis/joint. */
#ifndef MEMSNAP_ANALYSIS_JOINT_INTERNAL_H
#define MEMSNAP_ANALYSIS_JOINT_INTERNAL_H

#include "analysis/joint/match.h"

#define PLACES_MOST 8 /* the most places that are tried */

/* An allocation of either input. */
struct joint_item {
    uint64_t addr, size; /* requested, or of the block */
    int64_t time_us;     /* or TIME_NONE */
    uint32_t index;      /* lifetime, or index in profiled->items */
};

struct joint_items {
    struct joint_item *items;
    size_t count, capacity;
};

/* A place where the trace may lie in the snapshot: the index of the trace's first allocation among
 * the snapshot's, which may be negative. */
struct joint_places {
    int64_t items[PLACES_MOST];
    size_t count;
};

static inline bool joint_fits(const struct joint_item *snapshot, const struct joint_item *trace)
{
    return snapshot->addr == trace->addr && snapshot->size <= trace->size;
}

/* Times of hostile files are far apart; differences stay small enough to be subtracted again. */
static inline int64_t joint_apart(const struct joint_item *a, const struct joint_item *b)
{
    int64_t apart;
    if (__builtin_sub_overflow(a->time_us, b->time_us, &apart) || apart > INT64_MAX / 4 ||
        apart < INT64_MIN / 4)
        return INT64_MAX / 4;
    return apart;
}

/* places.c: the likeliest places, by short sequences of addresses that both have. */
bool joint_find_places(struct joint_places *places, const struct joint_items *snapshot,
                       const struct joint_items *trace, struct budget *budget, struct error *err);

#endif
