/* Costs where no times are known, but the classes of operators are (chain->weighed in
 * analysis/chain/forward_chain.h). A solver adds costs up and compares them; a report needs the
 * bytes of activations that a plan makes again. So a cost has both: the weight above, which
 * decides, and the bytes below. Each is in units of a share of the whole forward pass. */
#ifndef MEMSNAP_SOLVE_PROBLEM_WEIGHED_H
#define MEMSNAP_SOLVE_PROBLEM_WEIGHED_H

#include <stdbool.h>
#include <stdint.h>

/* Sums over layers 0..i-1. */
struct weighed_sum {
    double weight, bytes;
};

/* The cost of a layer between two sums. Costs of neighbours add up without errors of rounding. */
int64_t weighed_cost(struct weighed_sum from, struct weighed_sum to, struct weighed_sum whole);

/* The cost of a layer without that of a part of it. */
int64_t weighed_less(int64_t cost, int64_t part);

/* The share of all activations that is made again at this cost; above 1 if some are made
 * several times. */
double weighed_share(int64_t cost);

/* True if no costly operator runs again, or next to none. `whole` is the sum over all layers. */
bool weighed_is_cheap(int64_t cost, struct weighed_sum whole);

#endif
