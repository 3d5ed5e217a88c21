/* Memory that torch.cuda.empty_cache() gave back to the device and that was then asked for again.
 */
#ifndef MEMSNAP_ANALYSIS_POOL_GIVEN_BACK_H
#define MEMSNAP_ANALYSIS_POOL_GIVEN_BACK_H

#include "analysis/code/site.h"
#include "model/timeline.h"

struct given_back {
    int64_t bytes;       /* that the calls gave back */
    int64_t again_bytes; /* the part that the allocator then asked the device for again */
    uint64_t calls;      /* calls that gave something back */
    uint64_t mallocs;    /* segment_alloc and segment_map events that asked for it again */
};

/* Calls are recognised by their Python frame. */
bool given_back_find(struct given_back *given, const struct timeline *timeline,
                     struct site_table *sites, struct error *err);

#endif
