/* The activations of a chain that the program itself holds. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_HELD_H
#define MEMSNAP_ANALYSIS_CHAIN_HELD_H

#include "analysis/chain/forward_chain.h"

/* Adds the activation that an item allocates to chain->held, unless it is the output of an element.
 * The backward pass is over and has not freed it, so no checkpoint would. Items ascend. */
bool chain_note_held(struct forward_chain *chain, const struct trace *trace, uint32_t item,
                     struct error *err);
/* The first of chain->kept that is at or after an item. */
size_t chain_kept_from(const struct forward_chain *chain, uint32_t item);
/* The item allocates something of chain->held. */
bool chain_holds(const struct forward_chain *chain, uint32_t item);

#endif
