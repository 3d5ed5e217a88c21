/* The phases of a trace as a report shows them. */
#ifndef MEMSNAP_ANALYSIS_PHASE_ROWS_H
#define MEMSNAP_ANALYSIS_PHASE_ROWS_H

#include "analysis/phase/steps.h"

struct phase_row {
    enum phase phase;
    bool inferred;        /* from lifetimes, not from a stack or an annotation */
    int64_t step;         /* number of the step (steps.h) it begins in; -1 if in none */
    uint32_t first, last; /* items */
    int64_t peak_bytes;   /* the highest value of the active curve after one of its items */
    uint32_t peak_item;   /* the first that reaches it */
};

struct phase_rows {
    struct phase_row *items; /* in order, without gaps; none if no phase of a step was found */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

bool phase_rows_make(struct phase_rows *rows, const struct timeline *timeline,
                     const struct phases *phases, const struct steps *steps, struct error *err);
void phase_rows_release(struct phase_rows *rows);

#endif
