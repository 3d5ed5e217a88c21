/* The call sites of one side of a comparison. For analysis/diff only. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SIDE_SITES_H
#define MEMSNAP_ANALYSIS_DIFF_SIDE_SITES_H

#include "analysis/diff/side.h"
#include "analysis/diff/symbols.h"
#include "analysis/live/sites.h"

/* Names a call site in the symbols of the translation. */
bool diff_place_of(struct translation *translation, const struct site_table *sites,
                   const struct site_group *group, struct diff_place *place, struct error *err);

/* Adds the call sites of the live allocations to `side`, with their stacks. Also sets the members
 * that tell how the capture was recorded. */
bool diff_sites_make(struct diff_side *side, const struct live_set *set,
                     struct translation *translation, struct error *err);

#endif
