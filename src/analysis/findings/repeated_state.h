/* State of an optimizer that was made again for the same parameters while the first stayed. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_REPEATED_STATE_H
#define MEMSNAP_ANALYSIS_FINDINGS_REPEATED_STATE_H

#include "analysis/live/sites.h"
#include "analysis/phase/phases.h"

struct repeated_state {
    int64_t bytes;                    /* of the older state; 0: nothing is repeated */
    uint32_t first_item, second_item; /* the first allocation of the older and of the newer */
};

/* Looks among the allocations of `set`. The stacks of the states tell how many of them an optimizer
 * keeps for a parameter. Without stacks, or with an optimizer that steps in hooks, nothing is
 * found. */
bool repeated_state_find(struct repeated_state *state, const struct live_set *set,
                         const struct phases *phases, struct error *err);

#endif
