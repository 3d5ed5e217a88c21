/* From one optimizer step to the next: the forward pass and the backward pass between them. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GRADIENT_CYCLES_H
#define MEMSNAP_ANALYSIS_GROWTH_GRADIENT_CYCLES_H

#include "analysis/phase/phases.h"

/* Items. */
struct cycle {
    uint32_t used;          /* the optimizer step is over: its gradients are stale from here */
    uint32_t forward_end;   /* the last forward pass before the backward pass is over */
    uint32_t backward, end; /* the backward pass: [backward, end) */
    bool first;             /* no optimizer step came before it */
    uint64_t bytes, count;  /* stale gradients, for the caller */
};

struct cycles {
    struct cycle *items; /* ascending */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Optimizer steps show by their phase, or by an annotation. A cycle that the trace ends in before
 * its backward pass is left out: who knows what zero_grad would still have freed. */
bool cycles_find(struct cycles *cycles, const struct timeline *timeline,
                 const struct phases *phases, struct error *err);
void cycles_release(struct cycles *cycles);

/* How many cycles begin at or before `item`; how many have ended their forward pass then. */
size_t cycles_from(const struct cycles *cycles, uint32_t item);
size_t cycles_until(const struct cycles *cycles, uint32_t item);

#endif
