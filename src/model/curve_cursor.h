/* A position on the active curve, for code that reads a trace item by item. Values cannot overflow:
 * timeline_build() checked all of them. */
#ifndef MEMSNAP_MODEL_CURVE_CURSOR_H
#define MEMSNAP_MODEL_CURVE_CURSOR_H

#include "model/timeline.h"

struct curve_cursor {
    const struct trace *trace;
    size_t item;    /* the next one */
    int64_t active; /* bytes before it */
    struct trace_signs signs;
};

/* A cursor before the first item, where the value is the baseline. */
static inline struct curve_cursor curve_cursor_begin(const struct timeline *timeline)
{
    return (struct curve_cursor){timeline->trace, 0, timeline->active.baseline_bytes,
                                 trace_active_signs(timeline->trace)};
}

/* Moves past the next item, which must exist. Returns the active bytes after it. */
static inline int64_t curve_cursor_step(struct curve_cursor *cursor)
{
    size_t item = cursor->item++;
    cursor->active +=
        cursor->signs.of[cursor->trace->action[item]] * (int64_t)trace_size(cursor->trace, item);
    return cursor->active;
}

#endif
