/* How much the trace allocates at once in code that no checkpoint of a chain changes: an
 * evaluation, say, or the generation of samples. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_ELSEWHERE_H
#define MEMSNAP_ANALYSIS_CHAIN_ELSEWHERE_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/pass.h"

/* Behind what a plan for the pass changes: another pass of the same model begins, or the step ends.
 */
uint32_t chain_reach_end(const struct forward_chain *chain);

/* Fills in chain->elsewhere and chain->unused from the items that belong to no forward and backward
 * pass, and not to the rest of the chain's step either. A free counts when it is asked for.
 * Requires chain->kept. A forward pass that ran out of memory counts in neither. */
bool chain_find_elsewhere(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct passes *passes, struct error *err);

#endif
