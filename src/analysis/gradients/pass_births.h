/* The allocations of a pass, by size.
 *
 * A program allocates the same sizes in the same order in each backward pass, so the k-th
 * allocation of a size in one pass makes the same tensor as the k-th of that size in another. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_PASS_BIRTHS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_PASS_BIRTHS_H

#include "model/timeline.h"

struct pass_birth {
    uint64_t size;  /* bytes */
    uint32_t item;  /* of the allocation */
    uint32_t freed; /* item at which the memory is no longer active, or EVENT_NEVER */
};

struct pass_births {
    struct pass_birth *items; /* by size, then by item */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Collects the allocations of the items [first, end). Release the result whether it fails or not.
 */
bool pass_births_find(struct pass_births *births, const struct timeline *timeline, uint32_t first,
                      uint32_t end, struct error *err);
void pass_births_release(struct pass_births *births);

/* Puts what a caller has collected in order, for the functions below. */
void pass_births_sort(struct pass_births *births);
/* True if something of the size is allocated before the item. */
bool pass_births_any(const struct pass_births *births, uint64_t size, uint32_t item);

/* The allocation of `later` that makes the same tensor as the allocation of `earlier` with this
 * size and item. NULL if the passes differ in the number of allocations of that size. */
const struct pass_birth *pass_births_again(const struct pass_births *earlier,
                                           const struct pass_births *later, uint64_t size,
                                           uint32_t item);

#endif
