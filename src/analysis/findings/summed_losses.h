/* Forward passes on several batches that share one backward pass, as where a loop adds up the
 * losses of its batches and calls backward() on the sum: the graphs of all exist at once.
 *
 * Since the last backward pass or optimizer step before, the program must have repeated the same
 * code several times, as the stacks of its allocations show. Each time it must have made a new
 * batch, or have a backward pass of its own. This distinguishes the passes from the time steps of a
 * recurrent network, which need each other's results. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_SUMMED_LOSSES_H
#define MEMSNAP_ANALYSIS_FINDINGS_SUMMED_LOSSES_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

struct summed_losses {
    bool have_own_backward; /* each pass has one, but they all come after the last forward pass */
    size_t passes;          /* 0: none found */
    int64_t bytes;          /* activations and inputs of all of these, live at the peak */
    int64_t save_bytes;     /* of all but the last one: an upper bound */
};

/* `set` is live at the peak, the item `peak`. Needs call stacks. */
bool summed_losses_find(struct summed_losses *summed, const struct live_set *set,
                        const struct phases *phases, int64_t peak, struct error *err);

#endif
