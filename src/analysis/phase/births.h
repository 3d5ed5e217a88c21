/* Queries about the allocations of a trace. */
#ifndef MEMSNAP_ANALYSIS_PHASE_BIRTHS_H
#define MEMSNAP_ANALYSIS_PHASE_BIRTHS_H

#include "model/timeline.h"

/* The item at which the program freed it (free_requested if recorded), or EVENT_NEVER. */
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

/* The item after the last allocation: from there on the trace only frees. */
static inline uint32_t births_end(const struct timeline *timeline)
{
    size_t count = timeline->lifetime_count;
    return count > 0 ? timeline->lifetimes[count - 1].alloc + 1 : 0;
}

/* The item from which on the trace only frees, because the program ends; what is freed there would
 * otherwise have stayed. EVENT_NEVER if fewer long-lived blocks or bytes are freed there than stay
 * allocated: then the program does not end there, or it does not free its model. A call that
 * returns may free the most bytes, but a model has the most blocks. */
uint32_t births_program_end(const struct timeline *timeline);

/* The first lifetime born at or after the item. */
size_t births_from(const struct timeline *timeline, uint32_t item);

/* True if nothing that is allocated during lifetime `index` outlives it, as for scratch space that
 * is made and freed by one operator. False if many are allocated meanwhile. */
bool birth_is_leaf(const struct timeline *timeline, size_t index);

#endif
