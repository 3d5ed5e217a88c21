/* A plan in all passes of its model: the requests of the whole program, edited. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_WHOLE_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_WHOLE_H

#include "analysis/chain/replan.h"
#include "analysis/replay/program.h"

struct replan_whole {
    struct program program;
    bool is_too_long;          /* see replan_edit(); then the program is not complete */
    struct item_range *passes; /* those that are edited, in order */
    size_t pass_count, pass_capacity;
};

/* Edits `program`, which must be that of the whole trace. In a pass of the model that makes other
 * calls than `chain`, segments with such calls are left out, so that what is found for it is too
 * high. */
bool replan_whole_edit(struct replan_whole *whole, const struct program *program,
                       struct site_table *sites, const struct forward_chain *chain,
                       const struct chain_segment *segments, size_t count, struct error *err);
void replan_whole_release(struct replan_whole *whole);

/* Sets the members of `replan` that begin with `trace_`. */
bool replan_whole_peak(const struct replan_whole *whole, struct site_table *sites,
                       struct replan *replan, struct error *err);

#endif
