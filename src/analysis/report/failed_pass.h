/* The forward pass that ran out of memory, if the line that calls the model has never been followed
 * by a backward pass while another line has: an evaluation, perhaps, with autograd on. */
#ifndef MEMSNAP_ANALYSIS_REPORT_FAILED_PASS_H
#define MEMSNAP_ANALYSIS_REPORT_FAILED_PASS_H

#include "analysis/live/source.h"
#include "analysis/phase/failures.h"
#include "analysis/phase/phases.h"

struct failed_pass {
    int64_t bytes;  /* activations that it keeps, of calls from that line; 0: there is none */
    stack_id stack; /* of one of them */
    struct site call;
};

/* The moment of `set` is the peak, at an item of the trace. The lines are known by Python stacks.
 */
bool failed_pass_find(struct failed_pass *pass, const struct live_set *set,
                      const struct phases *phases, int64_t item, struct error *err);

#endif
