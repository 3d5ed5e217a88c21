/* Allocations summed by their stacks, so that each pair of stacks is looked at once. */
#ifndef MEMSNAP_ANALYSIS_LIVE_BUNDLES_H
#define MEMSNAP_ANALYSIS_LIVE_BUNDLES_H

#include "analysis/live/source.h"
#include "base/idtable.h"

/* Bytes, or a product of bytes and another number. */
__extension__ typedef unsigned __int128 live_weight;

/* Allocations with the same stacks, kind and age, which therefore have the same live_source. */
struct live_bundle {
    live_weight weight;
    uint64_t count;
    struct live example; /* the first of them */
    stack_id own;
    stack_id forward; /* live_forward_stack(); STACK_NONE if the own stack names user code */
    uint32_t kind;    /* given by the caller, such as the category */
    bool is_older;    /* than the recording */
    uint32_t group;   /* set by site_groups_of() */
};

struct live_bundles {
    struct live_bundle *items; /* in the order of their first allocations */
    size_t count, capacity;
    struct idtable table;
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void live_bundles_init(struct live_bundles *bundles, struct budget *budget);
void live_bundles_release(struct live_bundles *bundles);

/* Adds an allocation; *index is its bundle. STATUS_BAD_INPUT where a weight overflows. */
bool live_bundles_add(struct live_bundles *bundles, const struct live_set *set,
                      const struct live *live, uint32_t kind, live_weight weight, uint32_t *index,
                      struct error *err);

#endif
