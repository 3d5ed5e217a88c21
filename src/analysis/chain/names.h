/* What the parts of a chain are called. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_NAMES_H
#define MEMSNAP_ANALYSIS_CHAIN_NAMES_H

#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"

/* Adds chain->parts, one a node of `cut`, and the loops that they are iterations of. A loop of one
 * line is called by that line and the function it calls, a loop of several by these; anything else
 * by its own line. Numbers in brackets are those of the iterations of all loops around it, the
 * outermost first. */
bool chain_name_parts(struct forward_chain *chain, const struct call_tree *tree,
                      const struct cut *cut, struct site_table *sites, struct error *err);
/* Adds " (2)" to names that are there already. */
bool chain_tell_apart(struct forward_chain *chain, struct symbols *symbols, struct error *err);

#endif
