/* Tells two kinds of loops in a call tree apart: loops over lines of a function, and loops that
 * call a function. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_LOOPS_H
#define MEMSNAP_ANALYSIS_CHAIN_LOOPS_H

#include "analysis/chain/tree.h"

static inline bool call_same_function(struct frame a, struct frame b)
{
    return a.file == b.file && a.name == b.name;
}

/* True if each iteration of a loop runs lines of one call of a function, and false if each
 * iteration is another call of the function. */
bool call_loop_is_inside(const struct call_tree *tree, const struct call_node *loop);

#endif
