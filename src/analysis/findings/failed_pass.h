/* The forward pass that ran out of memory, if no backward pass has ever followed the line that
 * calls the model, but one has followed another such line. The pass is then probably an evaluation
 * with autograd on. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_FAILED_PASS_H
#define MEMSNAP_ANALYSIS_FINDINGS_FAILED_PASS_H

#include "analysis/live/source.h"
#include "analysis/phase/failures.h"
#include "analysis/phase/phases.h"

struct failed_pass {
    int64_t bytes;    /* of activations that all calls from that line keep, earlier ones too; 0 if
                         no pass was found */
    stack_id stack;   /* of one of them */
    struct site call; /* the line that calls the model */
};

/* The moment of `set` is the peak, at an item of the trace. The lines are known by Python stacks.
 */
bool failed_pass_find(struct failed_pass *pass, const struct live_set *set,
                      const struct phases *phases, int64_t item, struct error *err);

/* Sets *bytes to the activations live at the moment of `set`, an item of the trace, of passes that
 * ran out of memory before. The program has begun anew since, so no backward pass frees them. */
bool failed_attempt_find(int64_t *bytes, const struct live_set *set, const struct phases *phases,
                         int64_t item, struct error *err);

#endif
