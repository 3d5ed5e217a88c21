/* What was there before the first event, by category and reason. */
#ifndef MEMSNAP_ANALYSIS_REPORT_BASELINE_H
#define MEMSNAP_ANALYSIS_REPORT_BASELINE_H

#include "analysis/category/category.h"

struct baseline_row {
    uint8_t category; /* enum category; CATEGORY_COUNT: what frees before the range that were of
                         another size than was allocated left over */
    uint8_t reason;   /* a reason byte; REASON_NONE where it is unexplained */
    int64_t bytes;
    uint64_t count;
};

/* The largest first; their bytes sum to the baseline of the active curve. `*rows` is malloc'ed. */
bool baseline_rows_make(const struct timeline *timeline, const struct categories *categories,
                        struct baseline_row **rows, size_t *count, struct error *err);

#endif
