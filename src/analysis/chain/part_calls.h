/* The calls of modules that the parts of a chain consist of. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PART_CALLS_H
#define MEMSNAP_ANALYSIS_CHAIN_PART_CALLS_H

#include "analysis/chain/calls.h"
#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Divides the nodes of a cut in which both module calls and other code keep memory, and those whose
 * module calls may not form a chain. Each module call becomes a node, and so does the code between
 * two calls. Changes nothing if the cut would then have more than `most` nodes. */
bool cut_at_calls(struct cut *cut, struct call_tree *tree, const struct module_calls *calls,
                  size_t most, struct error *err);

/* Sets chain->calls, and first_call and end_call of each part. chain->parts[i] must be the part of
 * node i of the cut. */
bool chain_set_calls(struct forward_chain *chain, const struct call_tree *tree,
                     const struct cut *cut, const struct module_calls *calls,
                     struct symbols *symbols, struct error *err);

#endif
