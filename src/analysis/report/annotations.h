/* Finds the annotations (torch.profiler.record_function, Optimizer.step, ...) open at a moment. */
#ifndef MEMSNAP_ANALYSIS_REPORT_ANNOTATIONS_H
#define MEMSNAP_ANALYSIS_REPORT_ANNOTATIONS_H

#include "analysis/report/report.h"

/* Lists annotations of the timeline's device that START at or before the time of `item` and do not
 * END before it, outermost first. An END closes the latest open START of its name. Finds none if
 * the events have no time. */
bool annotations_open(const struct timeline *timeline, int64_t item, struct open_annotations *open,
                      struct error *err);

#endif
