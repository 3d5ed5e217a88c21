/* Gradients that variables hold, such as the results of torch.autograd.grad() that a program keeps
 * until the next step sets the variable again.
 *
 * They are not in .grad, so no zero_grad() frees them. A gradient counts if zero_grad() frees
 * others, and the program's own code frees this one after the same code of a later backward pass
 * has made another of its size. Where .grad is set, the gradient before it is freed first. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_HELD_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_HELD_GRADIENTS_H

#include "analysis/category/category.h"

struct held_gradients {
    uint8_t *is_held; /* by lifetime; NULL: none is */
    size_t capacity;
    uint64_t count;
    struct budget *budget; /* not owned */
};

/* Sets *context to that of the code that frees a gradient at `item`; CONTEXT_NONE if it is not
 * freed (EVENT_NEVER), if autograd frees it, or if there is no Python stack. */
bool gradient_freed_in(const struct timeline *timeline, struct site_table *sites, uint32_t item,
                       enum context *context, struct error *err);

bool held_gradients_find(struct held_gradients *held, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, struct error *err);
void held_gradients_release(struct held_gradients *held);

#endif
