#include "analysis/growth/dropped_last.h"

#include "analysis/phase/births.h"
#include "base/budget.h"

/* How the allocations of one stack ended: a graph dropped them, early or not, or a backward pass
 * freed them. These are flags. */
enum { FATE_DROPPED = 1, FATE_EARLY = 2, FATE_USED = 4 };

struct fate {
    uint8_t flags;
    uint32_t first; /* the first lifetime that a graph dropped; NO_RUN: none */
};

static stack_id stack_of(const struct timeline *timeline, size_t index)
{
    return timeline->trace->stack[timeline->lifetimes[index].alloc];
}

static void note_fates(struct fate *fates, const uint8_t *is_dropped, const uint8_t *is_early,
                       const struct timeline *timeline, const struct categories *categories,
                       const struct phases *phases)
{
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint32_t end = phases->of_lifetime[i].end;
        if (stack_of(timeline, i) == STACK_NONE || !dropped_last_may_hold(categories, i))
            continue;
        struct fate *fate = &fates[stack_of(timeline, i)];
        if (is_dropped[i])
            fate->flags |= is_early[i] ? FATE_EARLY : FATE_DROPPED;
        else if (end != NO_RUN && phases->runs[end].phase == PHASE_BACKWARD)
            fate->flags |= FATE_USED;
        if (is_dropped[i] && i < fate->first)
            fate->first = (uint32_t)i;
    }
}

/* True if a backward pass may go through what a loop made before the layers that it drops. */
static bool may_be_used(const struct fate *fate, const uint32_t *next_run,
                        const struct phases *phases, size_t index)
{
    const struct phase_run *runs = phases->runs;
    uint32_t birth = phases->of_lifetime[index].birth;
    return index < fate->first && next_run[birth] != NO_RUN &&
           runs[birth].pass == runs[phases->of_lifetime[fate->first].birth].pass;
}

bool dropped_last_mark(uint8_t *is_dropped, uint8_t *is_early, const uint32_t *next_run,
                       const struct timeline *timeline, const struct categories *categories,
                       const struct phases *phases, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct fate *fates = NULL; /* by stack */
    size_t capacity = 0, stacks = symbols_stack_count(timeline->snapshot->symbols);
    if (!vec_reserve(fates, capacity, stacks + 1, budget, err))
        return false;
    for (size_t i = 0; i <= stacks; i++)
        fates[i] = (struct fate){0, NO_RUN};
    note_fates(fates, is_dropped, is_early, timeline, categories, phases);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        stack_id stack = stack_of(timeline, i);
        if (stack == STACK_NONE || fates[stack].flags == 0 || (fates[stack].flags & FATE_USED) ||
            may_be_used(&fates[stack], next_run, phases, i) ||
            !dropped_last_may_hold(categories, i) || lifetime_end(lifetime) != EVENT_NEVER)
            continue;
        is_dropped[i] = true;
        is_early[i] = !(fates[stack].flags & FATE_DROPPED);
    }
    vec_free(fates, capacity, sizeof(*fates), budget);
    return true;
}
