/* Memory on which torch.compile and Triton time kernels: copies of arguments, and a buffer that is
 * cleared between runs to empty the device's cache (256 MB, or as large as the cache). A kernel is
 * timed when it first runs. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_BENCHMARKS_H
#define MEMSNAP_ANALYSIS_FINDINGS_BENCHMARKS_H

#include "analysis/code/site.h"
#include "model/timeline.h"

struct benchmarks {
    int64_t at_peak_bytes; /* such memory that is live at the active peak */
    int64_t save_bytes;    /* how much lower that peak would be without all such memory */
    stack_id stack;        /* of the largest that is live at the peak */
};

/* All members are zero if there is no such memory. Requires Python frames. */
bool benchmarks_find(struct benchmarks *benchmarks, const struct timeline *timeline,
                     struct site_table *sites, struct error *err);

#endif
