/* Weights that a program put on the device and converted to another dtype there. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_RECAST_WEIGHTS_H
#define MEMSNAP_ANALYSIS_FINDINGS_RECAST_WEIGHTS_H

#include "analysis/live/sums.h"

struct recast_weights {
    int64_t bytes;      /* in the first dtype, live at the peak; 0: there are none */
    int64_t save_bytes; /* how much lower the active peak would be if they had the last dtype
                         * from the beginning */
    bool made_there;    /* some were made on the device, not moved to it */
    stack_id stack;     /* the stack that converted the largest of them */
};

/* `set` is live at the peak. Finds nothing where each weight is converted as soon as it is on the
 * device, as when it is quantized. Needs Python frames, and C++
 * frames for conversions outside of Module.to() and the like. False on failure. */
bool recast_weights_find(struct recast_weights *recast, const struct live_set *set,
                         struct error *err);

#endif
