/* The calls of modules that the parts of a chain consist of. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PART_CALLS_H
#define MEMSNAP_ANALYSIS_CHAIN_PART_CALLS_H

#include "analysis/chain/calls.h"
#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Divides the nodes of a cut that keep memory in calls of modules and in other code, too, or in
 * calls that need not form a chain: each of these calls becomes a node of its own, and what lies
 * between two of them. Nothing changes if the cut would have more than `most` nodes. */
bool cut_at_calls(struct cut *cut, struct call_tree *tree, const struct module_calls *calls,
                  size_t most, struct error *err);

/* Sets chain->calls, and those of each part. Parts are those of the nodes of the cut. */
bool chain_set_calls(struct forward_chain *chain, const struct call_tree *tree,
                     const struct cut *cut, const struct module_calls *calls,
                     struct symbols *symbols, struct error *err);

#endif
