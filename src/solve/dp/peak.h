/* The placement of one level of checkpoints with the least real peak (model `peak`).
 *
 * Unlike a sum over the segments, the peak counts the stored inputs and the gradients. V(i) is the
 * least memory of layers i.., without x[i]. Layer i is kept, or a segment [i,s) is wrapped:
 *
 *   V(i) = min( max(all(i), xbar[i] + V(i+1)), min over s of max(C(i,s), x[s] + V(s)) )
 *
 * with C(i,s) from solve/chain/segment_cost.h; V(n) = 0. Ties: a kept layer comes first, then the
 * shortest segment. */
#ifndef MEMSNAP_SOLVE_DP_PEAK_H
#define MEMSNAP_SOLVE_DP_PEAK_H

#include "solve/chain/schedule.h"

/* Appends the segments with the least peak to `placement`, at most `most` of them. Takes O(n^2)
 * time for each segment, and stops when one more does not lower the peak. STATUS_LIMIT if that
 * would take minutes. */
bool peak_place(const struct chain *chain, size_t most, struct placement *placement,
                int64_t *peak_bytes, struct budget *budget, struct error *err);

/* The peak without checkpoints. */
int64_t peak_without(const struct chain *chain);

#endif
