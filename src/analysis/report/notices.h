/* Warnings about the quality of a capture, which a user should know before trusting a report. */
#ifndef MEMSNAP_ANALYSIS_REPORT_NOTICES_H
#define MEMSNAP_ANALYSIS_REPORT_NOTICES_H

#include "analysis/report/report.h"

/* Makes the notices of a device. `unit` is the unit of sizes in the texts. `*notices` is malloc'ed
 * and belongs to the caller, even if there are none. */
bool notices_make(const struct timeline *timeline, int64_t unexplained_bytes, enum unit unit,
                  struct notice **notices, size_t *count, struct error *err);

#endif
