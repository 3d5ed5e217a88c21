/* The tensors, besides the outputs, that pass from one element of a chain to others. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_RESTS_H
#define MEMSNAP_ANALYSIS_CHAIN_RESTS_H

#include "analysis/chain/sizes.h"

/* Sets chain->rests, and passed_bytes and branches of elements. Requires the outputs and
 * backward_end.
 *
 * A snapshot does not show which operator reads which tensor. But the backward pass makes a
 * gradient for every tensor that the loss depends on, and its lifetime shows the readers:
 *   - If the next element has freed a rest by its end, and its backward leaves a gradient of the
 * size of the rest, then the rest is an input of the next element.
 *   - If a gradient of the size of an output exists before the backward of the next element begins,
 *     and until it ends, then a later element uses the output too. */
bool chain_set_rests(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err);

#endif
