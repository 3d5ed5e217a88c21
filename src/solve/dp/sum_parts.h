/* Greedy parts of bounded sums, over the prefix sums before[0..n] of sizes that are not negative.
 */
#ifndef MEMSNAP_SOLVE_DP_SUM_PARTS_H
#define MEMSNAP_SOLVE_DP_SUM_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* parts[p], p = from..n: the fewest parts of at most `bound` that sizes p.. fall into; parts[n] is
 * 0. UINT32_MAX where a size is above. */
void sum_count_parts(const int64_t *before, size_t n, size_t from, int64_t bound, uint32_t *parts);

/* The least bound with which sizes from.. fall into at most `parts` parts, parts >= 1. */
int64_t sum_least(const int64_t *before, size_t n, size_t from, size_t parts);

#endif
