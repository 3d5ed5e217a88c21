/* Loops of a call tree: whether their iterations are lines of one function, or calls of it. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_LOOPS_H
#define MEMSNAP_ANALYSIS_CHAIN_LOOPS_H

#include "analysis/chain/tree.h"

static inline bool call_same_function(struct frame a, struct frame b)
{
    return a.file == b.file && a.name == b.name;
}

/* True if the iterations of a loop are lines of one function, and not calls of that function. */
bool call_loop_is_inside(const struct call_tree *tree, const struct call_node *loop);

#endif
