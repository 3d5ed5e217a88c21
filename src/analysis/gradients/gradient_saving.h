/* How much lower the active peak would be without stale gradients (gradients.h). */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_GRADIENT_SAVING_H
#define MEMSNAP_ANALYSIS_GRADIENTS_GRADIENT_SAVING_H

#include "analysis/code/site_table.h"
#include "analysis/gradients/gradient_cycles.h"

/* A gradient, stale in cycles [from, to). */
struct stale_gradient {
    uint32_t born; /* item; preexisting: 0 */
    uint32_t freed;
    uint32_t from, to;
    uint64_t size;
    bool preexisting;
};

struct gradient_saving { /* not owned */
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct cycles *cycles; /* with the sums of their stale gradients */
    const struct stale_gradient *gradients;
    size_t count;
};

/* Sets `*bytes` under the assumptions of stale_gradients.save_bytes. */
bool gradient_saving_measure(const struct gradient_saving *saving, int64_t *bytes,
                             struct error *err);

#endif
