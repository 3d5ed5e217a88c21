/* The rows of a report: call sites, single allocations and the baseline. */
#ifndef MEMSNAP_ANALYSIS_REPORT_ROWS_H
#define MEMSNAP_ANALYSIS_REPORT_ROWS_H

#include "analysis/live/source.h"
#include "analysis/report/report.h"

/* Fills report->sites and report->largest from `set`, whose items are sorted largest first. Call
 * report_rows_release() also after a failure. */
bool report_rows_make(struct device_report *report, const struct live_set *set, size_t top,
                      struct error *err);
/* Fills report->baseline, largest first, whose bytes sum to the baseline of the active curve. */
bool report_baseline_make(struct device_report *report, struct error *err);
/* Releases the sites, the groups, the largest allocations and the baseline. */
void report_rows_release(struct device_report *report);

#endif
