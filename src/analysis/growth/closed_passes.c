#include "analysis/growth/closed_passes.h"

bool closed_passes_find(struct closed_passes *passes, const struct timeline *timeline,
                        const struct phases *phases, struct error *err)
{
    struct closed_passes made = {
        .timeline = timeline, .phases = phases, .budget = timeline->snapshot->budget};
    struct closed_pass closed = {0, 0}, last = {0, 0};
    if (!vec_reserve(made.of_run, made.capacity, phases->count, made.budget, err))
        return false;
    for (size_t i = 0; i < phases->count; i++) {
        if (phases->runs[i].phase == PHASE_BACKWARD) {
            last.first = phases->runs[i].first;
            last.end = phases_run_end(phases, i, timeline->trace->count);
        } else {
            closed = last;
        }
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
