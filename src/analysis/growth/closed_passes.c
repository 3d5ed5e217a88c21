#include "analysis/growth/closed_passes.h"

bool closed_passes_find(struct closed_passes *passes, const struct timeline *timeline,
                        const struct phases *phases, struct error *err)
{
    struct closed_passes made = {
        .timeline = timeline, .phases = phases, .budget = timeline->snapshot->budget};
    struct closed_pass closed = {.forward = NO_RUN}, last = closed;
    if (!vec_reserve(made.of_run, made.capacity, phases->count, made.budget, err))
        return false;
    for (size_t i = 0; i < phases->count; i++) {
        if (phases->runs[i].phase == PHASE_BACKWARD) {
            last.first = phases->runs[i].first;
            last.end = phases_run_end(phases, i, timeline->trace->count);
        } else {
            closed = last;
        }
        if (phases->runs[i].phase == PHASE_FORWARD)
            last.forward = closed.forward = (uint32_t)i;
        made.of_run[i] = closed;
    }
    *passes = made;
    return true;
}

void closed_passes_release(struct closed_passes *passes)
{
    vec_free(passes->of_run, passes->capacity, sizeof(*passes->of_run), passes->budget);
    *passes = (struct closed_passes){0};
}

uint32_t closed_passes_end(const struct closed_passes *passes, size_t lifetime)
{
    const struct lifetime *item = &passes->timeline->lifetimes[lifetime];
    uint32_t run = passes->phases->of_lifetime[lifetime].end;
    const struct closed_pass *closed =
        &passes->of_run[run == NO_RUN ? passes->phases->count - 1 : run];
    return item->alloc < closed->first ? closed->end : 0;
}

uint32_t closed_passes_evaluation(const struct closed_passes *passes, size_t lifetime)
{
    const struct lifetime *item = &passes->timeline->lifetimes[lifetime];
    const struct phases *phases = passes->phases;
    struct lifetime_runs runs = phases->of_lifetime[lifetime];
    if (runs.end == NO_RUN || passes->of_run[runs.end].end > item->alloc)
        return 0;
    uint32_t made = passes->of_run[runs.birth].forward, later = passes->of_run[runs.end].forward;
    if (made == NO_RUN || made == later || phases->runs[made].is_saved)
        return 0;
    return phases->runs[later].first > item->alloc ? phases->runs[later].first : 0;
}
