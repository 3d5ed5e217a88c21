/* The program of a step with checkpoints. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H

#include "analysis/chain/replan.h"
#include "analysis/replay/replay.h"

/* Where element `index` begins in the trace; the backward begins behind the last one. */
static inline uint32_t replan_boundary(const struct forward_chain *chain, size_t index)
{
    return index < chain->count ? chain->elements[index].first_item : chain->backward;
}

/* Makes the steps of `edited`; everything else in it belongs to `program`. */
bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, struct program *edited,
                 struct error *err);
void replan_edit_release(struct program *edited);

#endif
