/* The functions that find steps. */
#ifndef MEMSNAP_ANALYSIS_PHASE_STEPS_INTERNAL_H
#define MEMSNAP_ANALYSIS_PHASE_STEPS_INTERNAL_H

#include "analysis/phase/step_marks.h"
#include "analysis/phase/steps.h"

/* The inputs from which steps are found. */
struct steps_finder {
    const struct timeline *timeline;
    const struct phases *phases;
    uint32_t item_count;
    bool has_forward;        /* some run is a forward pass */
    bool begins_cut;         /* the ring buffer or a range dropped events before the first item */
    bool ends_cut;           /* a range dropped events after the last */
    uint32_t oom;            /* the last out-of-memory event; 0 if none */
    struct step_marks marks; /* of the events that end a step: optimizer steps or passes */
    struct steps *steps;     /* the result */
};

/* steps_of_marks.c. Adds one step for each mark. */
bool steps_of_profiler(struct steps_finder *finder, struct error *err);
/* Adds a step that ends with each mark, if a forward pass separates it from the next mark and they
 * do not belong to one iteration. */
bool steps_of_marks(struct steps_finder *finder, enum steps_source source, struct error *err);

#endif
