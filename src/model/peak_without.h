/* The active peak as it would be if some memory had not been there for a while. */
#ifndef MEMSNAP_MODEL_PEAK_WITHOUT_H
#define MEMSNAP_MODEL_PEAK_WITHOUT_H

#include "model/timeline.h"

/* Memory that is left out from item `from` on, before that item changes the curve, until item
 * `until`; EVENT_NEVER: until the end. */
struct absence {
    uint32_t from, until;
    uint64_t bytes;
};

/* Memory that was allocated before the first item counts from the baseline on where `from` is 0. */
bool timeline_peak_without(const struct timeline *timeline, const struct absence *absences,
                           size_t count, int64_t *peak, struct error *err);

#endif
