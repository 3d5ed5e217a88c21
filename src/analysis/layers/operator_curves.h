/* The report on MemoryTracker's curves: peaks, also per phase, and the operators that raised them.
 */
#ifndef MEMSNAP_ANALYSIS_LAYERS_OPERATOR_CURVES_H
#define MEMSNAP_ANALYSIS_LAYERS_OPERATOR_CURVES_H

#include "model/operator_curves.h"

/* The operators [from, to), and the first of them with the most allocated. */
struct curves_span {
    string_id marker; /* at its beginning; STRING_EMPTY for none */
    uint32_t from, to, peak;
};

struct curves_growth {
    uint32_t point;
    int64_t bytes; /* change of allocated memory since the operator before */
};

struct curves_report {
    const struct operator_curves *curves; /* not owned */
    uint32_t allocated, active,
        reserved;              /* the first points with the maximum, if there are points */
    struct curves_span *spans; /* between the markers, in order; none is empty */
    size_t span_count;
    struct curves_growth *growths; /* of points from 1 on: the largest first, equal ones in order */
    size_t growth_count;
    size_t span_capacity, growth_capacity;
};

/* NULL on failure. The memory of the report is counted in the curves' budget. */
struct curves_report *curves_report_build(const struct operator_curves *curves, struct error *err);
void curves_report_destroy(struct curves_report *report); /* NULL is fine */

#endif
