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

bool held_gradients_find(struct held_gradients *held, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, struct error *err);
void held_gradients_release(struct held_gradients *held);

#endif
