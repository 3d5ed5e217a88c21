/* Chooses the nodes of a pass's call tree that become parts of the chain. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CUT_H
#define MEMSNAP_ANALYSIS_CHAIN_CUT_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/tree.h"

struct cut {
    uint32_t *nodes; /* in order; together they cover all runs of the tree */
    bool *joined;    /* by node: it belongs to the same element as the node before it */
    size_t count, nodes_capacity, joined_capacity;
    bool by_depth;         /* loops hold less than half of the model */
    bool matched;          /* with CHAIN_PATTERN: at least one line matched */
    struct budget *budget; /* not owned */
};

bool cut_choose(struct cut *cut, const struct call_tree *tree, const struct chain_options *options,
                struct error *err);
void cut_release(struct cut *cut);

#endif
