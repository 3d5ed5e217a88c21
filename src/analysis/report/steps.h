/* The parts of a report that go from step to step, and the frees that had to wait. */
#ifndef MEMSNAP_ANALYSIS_REPORT_STEPS_H
#define MEMSNAP_ANALYSIS_REPORT_STEPS_H

#include "analysis/report/report.h"

/* Fills report->steps, growth and pending, once phases, categories and the peak are there. What a
 * failure leaves is released like the rest. */
bool report_steps_make(struct device_report *report, struct site_table *sites, struct error *err);
void report_steps_release(struct device_report *report);

#endif
