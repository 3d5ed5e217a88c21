/* The curves of a trace, sampled in as many columns as a picture can show.
 *
 * A column stands for one moment: after the event, of those in the column, that leaves most memory
 * active. So the spike of a single event is not lost. A picture shows what was live at that moment.
 * A trace with no more events than columns has one column per event.
 *
 * If too little was recorded to know lifetimes (recording.h), live memory is known only at the
 * dump. Then a few columns after the last event stand for the dump. */
#ifndef MEMSNAP_ANALYSIS_CURVES_SAMPLING_H
#define MEMSNAP_ANALYSIS_CURVES_SAMPLING_H

#include "model/timeline.h"

enum sampling_axis { AXIS_EVENT, AXIS_TIME };

struct sampling {
    enum sampling_axis axis;
    size_t count;   /* columns, at least one */
    int64_t *items; /* per column: the trace item after which its moment is; ascending; -1 is before
                       the first item */
    double *edges;  /* count + 1: column c goes from edges[c] to edges[c + 1], in event numbers or
                       in microseconds since the first event of the file */
    size_t unknown; /* in the first `unknown` columns, active memory is not known and stored as 0:
                       all columns before those of the dump, or none */
    int64_t *active;   /* bytes at the moment of the column */
    int64_t *lowest;   /* bytes of active memory, the minimum in the column */
    int64_t *reserved; /* bytes, the maximum in the column */
};

/* Makes at most `columns` columns, at least 2. STATUS_USAGE for AXIS_TIME if the
 * events have no times.
 */
bool sampling_make(struct sampling *sampling, const struct timeline *timeline,
                   enum sampling_axis axis, size_t columns, struct error *err);
void sampling_release(struct sampling *sampling);

/* The first column whose moment is at or after `item`; `count` if there is none, or for
 * EVENT_NEVER. An allocation is live from the column of its alloc up to, not including, that of its
 * free. */
size_t sampling_column(const struct sampling *sampling, uint32_t item);

/* The same, but the last column if the moment of every column is before `item`. */
size_t sampling_column_showing(const struct sampling *sampling, uint32_t item);

#endif
