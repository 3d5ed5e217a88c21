/* Gradients that are older than the recording, and to which each backward pass adds in place.
 *
 * A gradient that zero_grad() frees is made anew by the first backward pass after the optimizer
 * step. If a gradient is there already, autograd adds to it and frees what it adds
 * (AccumulateGrad). Where the first backward() of every training cycle does so, and others are
 * made anew, no zero_grad() reaches the gradient: its parameter may be in no optimizer. Or a
 * program sets some gradients to zero instead of freeing them. C++ frames show what autograd adds.
 */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_SUMMED_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_SUMMED_GRADIENTS_H

#include "analysis/category/category.h"
#include "analysis/gradients/gradient_cycles.h"

#define SUMMED_LEAST_CYCLES 3

struct summed_gradients {
    uint64_t count; /* 0: none, or none is made anew, or there are too few cycles */
    int64_t bytes;
};

bool summed_gradients_find(struct summed_gradients *summed, const struct timeline *timeline,
                           struct site_table *sites, const struct categories *categories,
                           const struct cycles *cycles, struct error *err);

#endif
