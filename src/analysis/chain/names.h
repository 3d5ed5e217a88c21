/* The names of the parts of a chain. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_NAMES_H
#define MEMSNAP_ANALYSIS_CHAIN_NAMES_H

#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Adds one of chain->parts for each node of `cut`, and the loops that these parts are iterations
 * of. The name of a loop in which one line calls a function has that line and that function. The
 * name of a loop over several lines has the range of lines. Any other part is named after its line.
 * Numbers in brackets are the iterations of the enclosing loops, the outermost first. */
bool chain_name_parts(struct forward_chain *chain, const struct call_tree *tree,
                      const struct cut *cut, struct site_table *sites, struct error *err);
/* Adds a label to the symbols, and sets *name to their copy of it. Also fails if `label` had failed
 * for lack of memory. */
bool chain_add_label(struct symbols *symbols, const struct buffer *label, struct text *name,
                     struct error *err);
/* Makes the names of parts unique: adds " (2)" to the second part of a name, and so on. */
bool chain_tell_apart(struct forward_chain *chain, struct symbols *symbols, struct error *err);

#endif
