/* Where in a call tree modules of a list are called one after another. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_LISTS_H
#define MEMSNAP_ANALYSIS_CHAIN_LISTS_H

#include "analysis/chain/tree.h"

enum list_place {
    LIST_NONE,
    LIST_WITHIN, /* a child leads to one */
    LIST_LOOP,   /* its iterations are modules of a torch.nn.Sequential */
    LIST_OWN,    /* its iterations are modules that a line of the program calls */
};

/* Sets `places`, by node. Of what a loop of the program's own calls, nothing counts: its iterations
 * are modules of another list. */
void lists_find(const struct call_tree *tree, uint8_t *places);

/* Frame `level` of a run is the loop of a Sequential. */
bool call_is_list(const struct call_tree *tree, uint32_t run, size_t level);

#endif
