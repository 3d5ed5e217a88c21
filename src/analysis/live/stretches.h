/* The parts of a trace that have a name: the occurrences of a phase or of an annotation, or the
 * lives of allocations that programs annotated. */
#ifndef MEMSNAP_ANALYSIS_LIVE_STRETCHES_H
#define MEMSNAP_ANALYSIS_LIVE_STRETCHES_H

#include "analysis/phase/phases.h"

/* A stretch of the trace, by items; empty if last < first. */
struct stretch {
    uint32_t first, last;
};

struct stretches {
    struct stretch *items; /* in the order of their beginnings */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* These add to `stretches`, whose budget is set. */
bool stretches_of_phase(struct stretches *stretches, const struct timeline *timeline,
                        const struct phases *phases, enum phase phase, struct error *err);
bool stretches_of_annotation(struct stretches *stretches, const struct timeline *timeline,
                             struct text name, struct error *err);
/* Of the allocations to which torch.cuda.memory._annotate_tensor() attached this text. */
bool stretches_of_note(struct stretches *stretches, const struct timeline *timeline,
                       struct text name, struct error *err);
void stretches_release(struct stretches *stretches);

#endif
