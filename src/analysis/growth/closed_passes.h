/* The backward pass, and the forward pass, before each run of a trace (phases.h). */
#ifndef MEMSNAP_ANALYSIS_GROWTH_CLOSED_PASSES_H
#define MEMSNAP_ANALYSIS_GROWTH_CLOSED_PASSES_H

#include "analysis/phase/phases.h"

/* The last backward run before a run; in a backward pass, the last one of the pass before. */
struct closed_pass {
    uint32_t first, end; /* its first item, and the one after it; 0 if there is none */
    uint32_t forward;    /* the last forward run up to this run; NO_RUN: none */
};

struct closed_passes {
    const struct timeline *timeline; /* not owned */
    const struct phases *phases;     /* not owned */
    struct closed_pass *of_run;
    size_t capacity;
    struct budget *budget; /* not owned */
};

bool closed_passes_find(struct closed_passes *passes, const struct timeline *timeline,
                        const struct phases *phases, struct error *err);
void closed_passes_release(struct closed_passes *passes);

/* The end of the last backward pass before a lifetime is freed, or before the trace ends, if the
 * lifetime was made before that pass; else 0. So it is with the batches whose gradients one step
 * accumulates. */
uint32_t closed_passes_end(const struct closed_passes *passes, size_t lifetime);
/* The first item of the last forward pass that begins before a lifetime is freed, if the lifetime
 * was made after an earlier one, and no backward pass comes between: both are of an evaluation.
 * Else 0. */
uint32_t closed_passes_evaluation(const struct closed_passes *passes, size_t lifetime);

#endif
