/* Makes the summary of a capture (model/summary.h) from its reports. */
#ifndef MEMSNAP_ANALYSIS_RANKS_SUMMARIZE_H
#define MEMSNAP_ANALYSIS_RANKS_SUMMARIZE_H

#include "analysis/code/site.h"
#include "model/summary.h"
#include "model/timeline.h"

/* Adds the devices that have any memory to an empty summary, and sets the rank if the capture tells
 * it. `timelines` are ascending by device. The summary does not refer to them. */
bool summarize(struct summary *summary, struct timeline *const *timelines, size_t count,
               struct site_table *sites, struct error *err);

#endif
