/* The operators of a chain's elements, for selective checkpoints, which keep the results of some
 * operators. A profiler trace names the operator of every allocation and of every kernel launch. In
 * a snapshot, C++ frames name the operators of allocations. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_SELECTIVE_H
#define MEMSNAP_ANALYSIS_CHAIN_SELECTIVE_H

#include "analysis/chain/sizes.h"

/* Sets chain->operators, results, weighed and operators_named, and the weights of elements.
 * Requires the times that chain_set_times() sets. */
bool chain_set_operators(struct forward_chain *chain, const struct chain_measure *measure,
                         struct error *err);

#endif
