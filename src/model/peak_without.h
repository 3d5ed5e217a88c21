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

/* A list of absences. Its owner sets `budget`, and releases the list. */
struct absences {
    struct absence *items;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

bool absences_add(struct absences *absences, struct absence absence, struct error *err);
/* Adds all of another list. */
bool absences_join(struct absences *absences, const struct absences *more, struct error *err);
/* Sets *save_bytes to what the absences take off the active peak. Without them, another moment may
 * need more than the one of the peak does. */
bool absences_save(const struct absences *absences, const struct timeline *timeline,
                   int64_t *save_bytes, struct error *err);
void absences_release(struct absences *absences);

#endif
