/* Tensors that the elements of a chain make besides their outputs, and which elements use them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_RESTS_H
#define MEMSNAP_ANALYSIS_CHAIN_RESTS_H

#include "analysis/chain/sizes.h"

/* Fills chain->rests, and passed_bytes and branches of elements. Requires backward_end and outputs.
 *
 * A snapshot does not show which operator reads what, but the backward pass makes a gradient for
 * every tensor that the forward pass goes through. If the next element has freed a rest by its end,
 * and its backward leaves a gradient of that size, the rest is an input of the next element. And if
 * a gradient that has the size of an output waits from before the backward of the next element
 * until that is over, a later element uses the output, too. */
bool chain_set_rests(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err);

#endif
