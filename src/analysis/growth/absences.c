#include "analysis/growth/absences.h"

#include "base/bisect.h"
#include "base/budget.h"

bool absences_add(struct absences *absences, const struct timeline *timeline,
                  const struct step_ends *ends, size_t lifetime, struct error *err)
{
    struct absence absence = absence_of_lifetime(timeline, lifetime);
    size_t end = bisect_less(ends->items, sizeof(ends->items[0]), ends->count, absence.from);
    if (end < ends->count)
        absence.from = ends->items[end] + 1;
    return vec_push(absences->items, absences->count, absences->capacity, absences->budget, err,
                    absence);
}

bool absences_join(struct absences *absences, const struct absences *more, struct error *err)
{
    for (size_t i = 0; i < more->count; i++)
        if (!vec_push(absences->items, absences->count, absences->capacity, absences->budget, err,
                      more->items[i]))
            return false;
    return true;
}

bool absences_save(const struct absences *absences, const struct timeline *timeline,
                   int64_t *save_bytes, struct error *err)
{
    int64_t peak;
    if (!timeline_peak_without(timeline, absences->items, absences->count, &peak, err))
        return false;
    *save_bytes = timeline->active.peak_bytes - peak;
    return true;
}

void absences_release(struct absences *absences)
{
    vec_free(absences->items, absences->capacity, sizeof(*absences->items), absences->budget);
    *absences = (struct absences){0};
}
