/* The curves of a trace in as many columns as a picture can show.
 *
 * A column stands for one moment: that of its events after which most memory is active, so that a
 * spike of a single event is not lost. What a picture shows of a column is what was live at that
 * moment. A trace with no more events than columns has a column an event. */
#ifndef MEMSNAP_ANALYSIS_CURVES_SAMPLING_H
#define MEMSNAP_ANALYSIS_CURVES_SAMPLING_H

#include "model/timeline.h"

enum sampling_axis { AXIS_EVENT, AXIS_TIME };

struct sampling {
    enum sampling_axis axis;
    size_t count;    /* columns, at least one */
    int64_t *items;  /* one a column: the trace item after which it was; never falls; -1: before
                        the first one */
    double *edges;   /* count + 1: column c goes from edges[c] to edges[c + 1], in numbers of events
                        or in microseconds since the first event of the file */
    int64_t *active; /* bytes at the moment of the column */
    int64_t *reserved; /* bytes, the most in the column */
};

/* At most `columns`, which is not 0. STATUS_USAGE for AXIS_TIME where the events carry no time. */
bool sampling_make(struct sampling *sampling, const struct timeline *timeline,
                   enum sampling_axis axis, size_t columns, struct error *err);
void sampling_release(struct sampling *sampling);

/* The first column whose moment is at or after `item`; `count` where there is none, and for
 * EVENT_NEVER. Something is live in the columns from that of its alloc up to that of its free. */
size_t sampling_column(const struct sampling *sampling, uint32_t item);

/* The column that shows an item, be its moment before or after it. */
size_t sampling_column_showing(const struct sampling *sampling, uint32_t item);

#endif
