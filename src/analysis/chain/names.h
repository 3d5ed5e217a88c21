/* The names of the parts of a chain. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_NAMES_H
#define MEMSNAP_ANALYSIS_CHAIN_NAMES_H

#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Adds chain->parts, one per node of `cut`, and the loops of which they are iterations. A loop of
 * one line is named after that line and the function that it calls, a loop of several lines after
 * its lines, and anything else after its line. Numbers in brackets are the iterations of the loops
 * around it, the outermost first. */
bool chain_name_parts(struct forward_chain *chain, const struct call_tree *tree,
                      const struct cut *cut, struct site_table *sites, struct error *err);
/* Adds a label to the symbols, and sets `name` to what these have. Fails if the label
 * itself failed for lack of memory. */
bool chain_add_label(struct symbols *symbols, const struct buffer *label, struct text *name,
                     struct error *err);
/* Adds " (2)" and so on to repeated names. */
bool chain_tell_apart(struct forward_chain *chain, struct symbols *symbols, struct error *err);

#endif
