/* The loops of a call tree that call modules one after another, as torch.nn.Sequential and loops
 * over a ModuleList do. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_LISTS_H
#define MEMSNAP_ANALYSIS_CHAIN_LISTS_H

#include "analysis/chain/tree.h"

enum list_place {
    LIST_NONE,
    LIST_WITHIN, /* there is such a loop below this node */
    LIST_LOOP,   /* a loop of torch.nn.Sequential: its iterations are the modules */
    LIST_OWN,    /* a loop of the program whose line calls the modules */
};

/* Sets places[i] to the list_place of node i. */
void lists_find(const struct call_tree *tree, uint8_t *places);

/* True if frame `level` of a run is in a container of torch, such as torch.nn.Sequential. */
bool call_is_list(const struct call_tree *tree, uint32_t run, size_t level);

#endif
