/* FairScale's placement (model `sum`): cut a list of sizes into at most k+1 consecutive parts so
 * that the largest part's sum is least. That is not the peak of memory (solve/dp/peak.h). It is
 * here to reproduce the answers that FairScale gives, and to compare with them.
 *
 * find_best_reset_points() of fairscale.experimental.tooling.layer_memory_tracker breaks
 * ties by its recursion. With V(p, r) the optimum of the sizes from p on with r cuts left, s_0 = 0
 * and r = k-t+1 its t-th cut is s_t = min{ s > s_(t-1) : V(s, r-1) <= V(s_(t-1), r) }, up to t = k
 * or s_t = n. A cut at n, where FairScale fails with an IndexError, is left out. */
#ifndef MEMSNAP_SOLVE_DP_SUM_H
#define MEMSNAP_SOLVE_DP_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

struct sum_answer {
    int64_t max_memory;
    size_t *cuts; /* first index of each part except the first; ascending */
    size_t count, capacity;
};

/* Negative sizes are allowed but need a slower algorithm, O(n^2 k). STATUS_LIMIT if it would take
 * minutes or a sum overflows. */
bool sum_place(const int64_t *sizes, size_t count, size_t checkpoints, struct sum_answer *answer,
               struct budget *budget, struct error *err);
void sum_release(struct sum_answer *answer, struct budget *budget);

#endif
