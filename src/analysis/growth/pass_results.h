/* Results of forward passes that ran without autograd, as an evaluation that collects its logits.
 *
 * A pass that keeps a graph for its backward pass leaves many tensors behind. A pass counts as one
 * without autograd if at least 16 tensors were made in it, and at most two of them outlive it. If
 * the trace has passes with a backward pass, the limit is not two but a quarter of the tensors that
 * each of those passes keeps, because a model may also return the results of its layers.
 *
 * What plain code computes from the result of such a pass, as the logarithms of probabilities, is a
 * result, too, if at least two more forward passes run while it is live. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_PASS_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_PASS_RESULTS_H

#include "analysis/category/category.h"

struct pass_results {
    uint8_t *is_result; /* a flag for each lifetime */
    size_t capacity;
    struct budget *budget; /* not owned */
};

/* The pass in which the trace ends does not count: it may be cut short. */
bool pass_results_find(struct pass_results *results, const struct timeline *timeline,
                       const struct phases *phases, const struct categories *categories,
                       struct error *err);
void pass_results_release(struct pass_results *results);

#endif
