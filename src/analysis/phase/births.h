/* Small questions about the allocations born in a trace. */
#ifndef MEMSNAP_ANALYSIS_PHASE_BIRTHS_H
#define MEMSNAP_ANALYSIS_PHASE_BIRTHS_H

#include "model/timeline.h"

/* The item at which the program let go of it: what its end is judged by. EVENT_NEVER: never. */
static inline uint32_t lifetime_end(const struct lifetime *lifetime)
{
    return lifetime->free_requested != EVENT_NEVER ? lifetime->free_requested
                                                   : lifetime->free_completed;
}

static inline uint32_t preexisting_end(const struct preexisting *preexisting)
{
    return preexisting->free_requested != EVENT_NEVER ? preexisting->free_requested
                                                      : preexisting->free_completed;
}

/* The first lifetime born at or after the item. */
size_t births_from(const struct timeline *timeline, uint32_t item);

/* Whether nothing that is born while lifetime `index` lives outlives it: scratch space, made and
 * freed while its maker works on something else. False, too, where many are born meanwhile. */
bool birth_is_leaf(const struct timeline *timeline, size_t index);

#endif
