/* Activations that checkpoints may not free, because the program may hold references to them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_DOUBTS_H
#define MEMSNAP_ANALYSIS_CHAIN_DOUBTS_H

#include "analysis/chain/sizes.h"

/* Sets chain->doubts. Requires chain->rests and chain->kept.
 *
 * Some programs collect tensors of every layer that the backward pass does not need, such as
 * attention scores. Such a program may also collect other tensors that the same functions make,
 * such as attention weights. If the backward pass needs those, it frees them last, so a snapshot
 * does not tell whether the program held them too. */
bool chain_set_doubts(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err);

#endif
