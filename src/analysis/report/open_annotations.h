/* The annotations (torch.profiler.record_function) that are open at a moment. */
#ifndef MEMSNAP_ANALYSIS_REPORT_OPEN_ANNOTATIONS_H
#define MEMSNAP_ANALYSIS_REPORT_OPEN_ANNOTATIONS_H

#include "model/timeline.h"

/* The annotations open at a time, outermost first. */
struct open_annotations {
    struct open_annotation {
        string_id name;
        int64_t time_us;
    } * items; /* malloc'ed */
    size_t count;
};

/* Lists annotations of the timeline's device that START at or before the time of `item` and do not
 * END before it, outermost first. An END closes the latest open START of its name. Finds none if
 * the events have no time. `item` is a trace item; -1 stands for the moment before the first. The
 * caller frees open->items. */
bool annotations_open(const struct timeline *timeline, int64_t item, struct open_annotations *open,
                      struct error *err);

#endif
