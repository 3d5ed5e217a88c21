/* What a person should know before trusting a report, and what to do about it. */
#ifndef MEMSNAP_ANALYSIS_REPORT_NOTICES_H
#define MEMSNAP_ANALYSIS_REPORT_NOTICES_H

#include "analysis/report/report.h"

/* Sizes are told in `unit`. `*notices` is malloc'ed. */
bool notices_make(const struct timeline *timeline, int64_t unexplained_bytes, enum unit unit,
                  struct notice **notices, size_t *count, struct error *err);

#endif
