/* Makes the model of a step from an allocator snapshot: layers from the call tree of its forward
 * pass, tensors from the gradients of its backward pass, memory from the curve of everything that
 * is neither parameter, gradient nor optimizer state. */
#ifndef MEMSNAP_ANALYSIS_SHARD_FROM_SNAPSHOT_H
#define MEMSNAP_ANALYSIS_SHARD_FROM_SNAPSHOT_H

#include "analysis/chain/forward_chain.h"
#include "analysis/shard/model.h"

#define SHARD_FIRST_ELEMENT 1 /* the layer of the first element of the chain */

/* The chain is that of the timeline, and must have been found. Its elements are the layers; those
 * that are iterations of a loop are units. STATUS_BAD_INPUT if the backward pass makes no
 * gradients. Names are those of the chain, in `symbols`. */
bool shard_model_from_snapshot(struct shard_model *model, const struct timeline *timeline,
                               struct site_table *sites, const struct forward_chain *chain,
                               const struct symbols *symbols, struct error *err);

#endif
