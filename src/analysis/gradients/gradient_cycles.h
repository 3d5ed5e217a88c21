/* Training cycles: an optimizer step, then the next forward pass and backward pass. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_GRADIENT_CYCLES_H
#define MEMSNAP_ANALYSIS_GRADIENTS_GRADIENT_CYCLES_H

#include "analysis/phase/phases.h"

/* All positions are items of the trace. */
struct cycle {
    uint32_t used;          /* end of the optimizer step: its gradients are stale from here on */
    uint32_t forward;       /* where the forward pass before the backward begins */
    uint32_t forward_most;  /* after half of the allocations of that pass */
    uint32_t forward_end;   /* after the last of them */
    uint32_t backward, end; /* the backward passes up to the next step: [backward, end) */
    uint32_t pass_end;      /* of the first of them: up to another forward pass */
    bool first;             /* no optimizer step before it is in the trace */
    uint64_t bytes, count;  /* stale gradients; filled in by the caller */
};

struct cycles {
    struct cycle *items; /* ascending */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Optimizer steps are found by stacks, by an annotation, or by gradients that are freed after the
 * next forward pass. A cycle is left out if the trace ends before its backward pass, since
 * zero_grad might still have freed the gradients. But if memory ran out in its forward pass, which
 * has no use for them, it counts with `with_failed`: its backward passes are empty, at the end. */
bool cycles_find(struct cycles *cycles, const struct timeline *timeline,
                 const struct phases *phases, bool with_failed, struct error *err);
void cycles_release(struct cycles *cycles);

/* The number of cycles that begin at or before `item`; that have made at least half of the
 * allocations of their forward pass by then: the loss, or the scaled loss, may come later. */
size_t cycles_from(const struct cycles *cycles, uint32_t item);
size_t cycles_until(const struct cycles *cycles, uint32_t item);

#endif
