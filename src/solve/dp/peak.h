/* The placement of checkpoints of one level with the least real peak (model `peak`).
 *
 * Unlike a sum over the segments, the peak counts the stored inputs and the gradients. Let V(i) be
 * the least that layers i.. take beside x[i]; a layer is kept, or a segment [i,s) is wrapped:
 *
 *   V(i) = min( max(all(i), xbar[i] + V(i+1)), min over s of max(C(i,s), x[s] + V(s)) )
 *
 * with C(i,s) from solve/chain/segment_cost.h; V(n) = 0. Of equal choices a kept layer comes first,
 * then the shortest segment. */
#ifndef MEMSNAP_SOLVE_DP_PEAK_H
#define MEMSNAP_SOLVE_DP_PEAK_H

#include "solve/chain/placement.h"

/* At most `most` segments, the least peak. O(n^2) a segment, until more do not help; STATUS_LIMIT
 * where that would take minutes. `placement` is added to. */
bool peak_place(const struct chain *chain, size_t most, struct placement *placement,
                int64_t *peak_bytes, struct budget *budget, struct error *err);

/* The peak with nothing checkpointed. */
int64_t peak_without(const struct chain *chain);

#endif
