/* Gradients that outlive the optimizer step that used them.
 *
 * A gradient is stale from the end of an optimizer step on, if the next forward pass ends before
 * it is freed: it was of no use to that pass. One that is freed by zero_grad before the trace's
 * first backward pass, though it lived through the forward pass before, is, too. Where there is no
 * sign of an optimizer nothing is stale: gradients may be meant to accumulate. What is never freed
 * counts only with the size of a parameter. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GROWTH_GRADIENTS_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

struct stale_gradients {
    uint64_t count;  /* at the end of the forward pass that most lived through; 0: none */
    int64_t bytes;   /* of these */
    uint64_t passes; /* how many forward passes some lived through */
    bool stay;       /* not freed before the backward pass that follows: it adds to them in place */
    /* How much lower the active peak would be, had they been freed when the optimizer step ended.
     * A backward pass that adds to them is taken to need each as late in the pass as the one that
     * made it did. Other steps with as many stale bytes are taken to gain as much; those with
     * fewer not at all. */
    int64_t save_bytes;
};

bool stale_gradients_find(struct stale_gradients *stale, const struct timeline *timeline,
                          const struct phases *phases, const struct categories *categories,
                          struct error *err);

#endif
