/* A model that stays on the device until the one that takes its place is complete. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_EARLIER_MODEL_H
#define MEMSNAP_ANALYSIS_FINDINGS_EARLIER_MODEL_H

#include "analysis/live/sums.h"
#include "analysis/phase/phases.h"

struct earlier_model {
    int64_t bytes;      /* of the earlier model, and of what is freed with it; 0: there is none */
    int64_t save_bytes; /* how much lower the active peak would be if each earlier model were freed
                         * before the next one is made */
    stack_id stack;     /* the stack that made the first weight of the later one */
};

/* `set` is live at the peak, which lies where the later model is made. A copy of a module does not
 * count, because it needs the original. Needs Python frames. False on failure. */
bool earlier_model_find(struct earlier_model *earlier, const struct live_set *set,
                        const struct phases *phases, struct error *err);

#endif
