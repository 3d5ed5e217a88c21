/* The frames that call modules in the iterations of loops. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CALLERS_H
#define MEMSNAP_ANALYSIS_CHAIN_CALLERS_H

#include "analysis/chain/tree.h"

/* True if two runs have the same frames from..to. */
bool call_same_frames(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t from,
                      uint32_t to);

/* The index of the frame that calls a module in each iteration of a loop, or CALL_NONE. Between
 * this frame and the loop's function there may be functions that only pass the call on to its
 * forward. */
uint32_t call_iteration_caller(const struct call_tree *tree, const struct call_node *iteration);

#endif
