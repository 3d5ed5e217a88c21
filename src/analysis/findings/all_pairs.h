/* Tensors of all pairs of values, or of vectors, that broadcasting makes.
 *
 * `prediction - target` with shapes (N, 1) and (N) has N * N values: a common mistake where N are
 * meant. Distances as `x[:, None] - y[None]` have N * N * D values, of vectors of D. Such a tensor
 * is the result of an elementwise operator in a forward pass for which no operand of its size is
 * there, made right after one of the N values or vectors. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_ALL_PAIRS_H
#define MEMSNAP_ANALYSIS_FINDINGS_ALL_PAIRS_H

#include "analysis/live/source.h"
#include "analysis/phase/steps.h"

struct all_pairs {
    int64_t bytes;  /* at the peak, of tensors as large as the first of them; 0: there are none */
    bool of_values; /* of N values with N others; else of vectors */
    uint64_t rows;  /* N */
    stack_id stack; /* of the first of them */
};

/* Finds the largest such tensor in the step of the peak, which is at the item `peak` of the trace.
 * Needs C++ frames, which name the operators. */
bool all_pairs_find(struct all_pairs *pairs, const struct live_set *at_peak,
                    const struct steps *steps, int64_t peak, struct error *err);

#endif
