/* Finds elements that cannot share a checkpoint of their module calls. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_SPLITS_H
#define MEMSNAP_ANALYSIS_CHAIN_SPLITS_H

#include "analysis/chain/sizes.h"

/* Sets `splits` of elements. Requires chain->kept, calls_first and backward_end. */
void chain_set_splits(struct forward_chain *chain, const struct chain_measure *measure);

#endif
