/* A plan in all passes of its model: the requests of the whole program, edited. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_WHOLE_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_WHOLE_H

#include "analysis/chain/replan.h"
#include "analysis/replay/program.h"

/* Edits `program`, which must be that of the whole trace. Passes of the model that make other calls
 * than `chain` stay as recorded, so that what is found for them is too high. Release `edited` with
 * replan_edit_release(). *is_too_long: as for replan_edit(). */
bool replan_edit_whole(const struct program *program, struct site_table *sites,
                       const struct forward_chain *chain, const struct chain_segment *segments,
                       size_t count, struct program *edited, bool *is_too_long, struct error *err);

#endif
