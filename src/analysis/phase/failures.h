/* Requests that failed for lack of memory. The exception may end a forward pass. If the program
 * catches it, what the pass had saved is freed without a backward pass. */
#ifndef MEMSNAP_ANALYSIS_PHASE_FAILURES_H
#define MEMSNAP_ANALYSIS_PHASE_FAILURES_H

#include "model/timeline.h"

struct failures {
    uint32_t *items; /* the `oom` events, in order */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

bool failures_find(struct failures *failures, const struct timeline *timeline, struct error *err);
/* True if a request failed after the item `from` and up to `to`. */
bool failures_between(const struct failures *failures, uint32_t from, uint32_t to);
void failures_release(struct failures *failures);

#endif
