/* The active peak as it would be if some memory were missing from the curve for a while. */
#ifndef MEMSNAP_MODEL_PEAK_WITHOUT_H
#define MEMSNAP_MODEL_PEAK_WITHOUT_H

#include "model/timeline.h"

/* Memory that is missing after each of the items `from` to `until` - 1. EVENT_NEVER as `until`
 * means up to the end of the trace. */
struct absence {
    uint32_t from, until;
    uint64_t bytes;
};

/* The absence of one allocation of the trace, from its beginning to its end. */
static inline struct absence absence_of_lifetime(const struct timeline *timeline, size_t index)
{
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    return (struct absence){lifetime->alloc, lifetime->free_completed,
                            trace_size(timeline->trace, lifetime->alloc)};
}

/* Sets `*peak` to the highest value of the active curve without all absences, the baseline
 * included: an absence with `from` 0 is missing from the baseline, too. STATUS_LIMIT if memory runs
 * out. */
bool timeline_peak_without(const struct timeline *timeline, const struct absence *absences,
                           size_t count, int64_t *peak, struct error *err);

#endif
