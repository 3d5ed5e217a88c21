/* What a joined profiler trace says of the call sites in a report. */
#ifndef MEMSNAP_ANALYSIS_JOINT_SITES_H
#define MEMSNAP_ANALYSIS_JOINT_SITES_H

#include "analysis/joint/match.h"
#include "analysis/report/report.h"

/* Sets `joint` of the report's call sites. `*live_matched` is the number of allocations live at the
 * report's moment that are in the trace. */
bool joint_sites(struct device_report *report, const struct joint *joint, struct site_table *sites,
                 uint64_t *live_matched, struct error *err);

#endif
