/* Tells which tensors need no gradient, by the sizes of what the backward pass makes. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_GRADIENT_SIZES_H
#define MEMSNAP_ANALYSIS_CHAIN_GRADIENT_SIZES_H

#include "analysis/chain/pass.h"

/* The sizes of what the backward pass allocates, in ascending order; none if memory ran out before
 * it was complete. */
struct gradient_sizes {
    uint64_t *items;
    size_t count, capacity;
    uint32_t backward; /* the item at which the backward pass begins */
    struct budget *budget;
};

bool gradient_sizes_find(struct gradient_sizes *sizes, const struct timeline *timeline,
                         const struct pass *pass, struct budget *budget, struct error *err);
void gradient_sizes_release(struct gradient_sizes *sizes);

/* True if a tensor has no gradient: the forward pass frees it, and the backward pass makes nothing
 * of its size. */
bool gradient_sizes_lack(const struct gradient_sizes *sizes, const struct timeline *timeline,
                         size_t lifetime);

#endif
