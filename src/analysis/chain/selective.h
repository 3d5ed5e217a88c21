/* The operators of a chain's elements, for checkpoints that keep the results of some. A profiler
 * trace names the operator of every allocation and of every launch of kernels; in a snapshot, C++
 * frames name those of allocations. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_SELECTIVE_H
#define MEMSNAP_ANALYSIS_CHAIN_SELECTIVE_H

#include "analysis/chain/sizes.h"

/* Fills chain->operators, weighed and operators_named. Needs what chain_set_times() fills. */
bool chain_set_operators(struct forward_chain *chain, const struct chain_measure *measure,
                         struct error *err);

#endif
