/* Which activations a program may hold where its checkpoints should free them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_DOUBTS_H
#define MEMSNAP_ANALYSIS_CHAIN_DOUBTS_H

#include "analysis/chain/sizes.h"

/* Fills chain->doubts. Requires chain->rests and chain->kept.
 *
 * Where a program collects results of layers that no backward pass needs, such as scores of
 * attention, it may collect others that the same functions make, such as the weights. A snapshot
 * does not show that, since the backward pass needs these for longer. */
bool chain_set_doubts(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err);

#endif
