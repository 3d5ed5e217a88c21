/* Allocations that a program could free at the end of the step that made them, and how much lower
 * the active peak would be without them. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_ABSENCES_H
#define MEMSNAP_ANALYSIS_GROWTH_ABSENCES_H

#include "analysis/growth/survivors.h"
#include "model/peak_without.h"

struct absences {
    struct absence *items;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Adds an allocation of the trace, which is missing from the end of its step on. */
bool absences_add(struct absences *absences, const struct timeline *timeline,
                  const struct step_ends *ends, size_t lifetime, struct error *err);
/* Adds all of another list. */
bool absences_join(struct absences *absences, const struct absences *more, struct error *err);
/* Sets *save_bytes to what the absences take off the active peak. Without them, another moment may
 * need more than the one of the peak does. */
bool absences_save(const struct absences *absences, const struct timeline *timeline,
                   int64_t *save_bytes, struct error *err);
void absences_release(struct absences *absences);

#endif
