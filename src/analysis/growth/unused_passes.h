/* Forward passes that no backward pass uses, in a program that trains: evaluation, generation, a
 * teacher or another frozen model, or the rollout of reinforcement learning.
 *
 * A pass counts if no backward pass follows it, or if it is not the last before a backward pass
 * and less than a tenth of the memory by which it raises the active curve is still allocated when
 * that begins. One that runs out of memory counts if a decorator such as
 * torch.no_grad() shows in the stack of the request. What an operator allocates and frees at once,
 * such as a workspace, does not count as raising it. A pass extends from the first item of its
 * forward phase to the next phase of a step, so that a loss that other code computes belongs to it.
 */
#ifndef MEMSNAP_ANALYSIS_GROWTH_UNUSED_PASSES_H
#define MEMSNAP_ANALYSIS_GROWTH_UNUSED_PASSES_H

#include "analysis/code/site.h"
#include "analysis/phase/phases.h"

struct unused_passes {
    uint64_t count;
    bool at_peak;                 /* the active peak lies in one of them */
    int64_t peak_elsewhere_bytes; /* of the active curve outside of them */
};

bool unused_passes_find(struct unused_passes *unused, const struct timeline *timeline,
                        struct site_table *sites, const struct phases *phases, struct error *err);

#endif
