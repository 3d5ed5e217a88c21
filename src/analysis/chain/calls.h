/* The calls of modules in a pass, as its Python stacks tell them apart: which line of the module
 * around it made each, and which of the calls of that line it was.
 *
 * A call of a line ends where another line runs, where the line calls another function, and where
 * an iteration of a loop begins. Calls that allocate nothing are not seen. Two calls of a line in a
 * row that allocate at one line only are taken for one. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CALLS_H
#define MEMSNAP_ANALYSIS_CHAIN_CALLS_H

#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Sets chain->calls, and those of each part. Parts are those of the nodes of the cut. */
bool chain_set_calls(struct forward_chain *chain, const struct call_tree *tree,
                     const struct cut *cut, struct symbols *symbols, struct error *err);

/* False for a loop whose lines are a function that is called in each iteration: then the loop is in
 * its caller. True if it is in the function itself, which has other lines before or after. */
bool call_loop_is_inside(const struct call_tree *tree, const struct call_node *loop);

#endif
