/* The activations of a chain to which the program itself holds references. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_HELD_H
#define MEMSNAP_ANALYSIS_CHAIN_HELD_H

#include "analysis/chain/forward_chain.h"

/* Adds an item to chain->held, unless it allocates the output of an element. The item must allocate
 * an activation that no checkpoint would free. chain_is_held() requires ascending order. */
bool chain_add_held(struct forward_chain *chain, const struct trace *trace, uint32_t item,
                    struct error *err);
/* Index in chain->kept of the first entry that is not less than `item`. */
size_t chain_kept_from(const struct forward_chain *chain, uint32_t item);
/* True if an item is in chain->kept. */
bool chain_keeps(const struct forward_chain *chain, uint32_t item);
/* True if an item is in chain->held. */
bool chain_is_held(const struct forward_chain *chain, uint32_t item);

#endif
