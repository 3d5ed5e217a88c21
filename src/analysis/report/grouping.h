/* Live memory grouped by something else than the call site. */
#ifndef MEMSNAP_ANALYSIS_REPORT_GROUPING_H
#define MEMSNAP_ANALYSIS_REPORT_GROUPING_H

#include "analysis/live/source.h"
#include "analysis/report/report.h"

/* "category" */
const char *group_by_name(enum group_by by);

/* Fills report->groups from `set`, unless options ask for call sites. report_rows_release()
 * releases it, also after a failure. */
bool report_groups_make(struct device_report *report, const struct live_set *set,
                        const struct report_options *options, struct error *err);

#endif
