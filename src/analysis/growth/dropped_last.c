#include "analysis/growth/dropped_last.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "base/budget.h"

/* How the allocations of one stack ended: a graph dropped them, early or not, or a backward pass
 * freed them. These are flags. */
enum fate { FATE_DROPPED = 1, FATE_EARLY = 2, FATE_USED = 4 };

static stack_id stack_of(const struct timeline *timeline, size_t index)
{
    return timeline->trace->stack[timeline->lifetimes[index].alloc];
}

static void note_fates(uint8_t *fates, const uint8_t *is_dropped, const uint8_t *is_early,
                       const struct timeline *timeline, const struct categories *categories,
                       const struct phases *phases)
{
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint32_t end = phases->of_lifetime[i].end;
        if (stack_of(timeline, i) == STACK_NONE || !dropped_last_may_hold(categories, i))
            continue;
        if (is_dropped[i])
            fates[stack_of(timeline, i)] |= is_early[i] ? FATE_EARLY : FATE_DROPPED;
        else if (end != NO_RUN && phases->runs[end].phase == PHASE_BACKWARD)
            fates[stack_of(timeline, i)] |= FATE_USED;
    }
}

bool dropped_last_mark(uint8_t *is_dropped, uint8_t *is_early, const struct timeline *timeline,
                       const struct categories *categories, const struct phases *phases,
                       struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    uint8_t *fates = NULL; /* by stack */
    size_t capacity = 0, stacks = symbols_stack_count(timeline->snapshot->symbols);
    if (!vec_reserve(fates, capacity, stacks + 1, budget, err))
        return false;
    memset(fates, 0, stacks + 1);
    note_fates(fates, is_dropped, is_early, timeline, categories, phases);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        stack_id stack = stack_of(timeline, i);
        if (stack == STACK_NONE || fates[stack] == 0 || (fates[stack] & FATE_USED) ||
            !dropped_last_may_hold(categories, i) || lifetime_end(lifetime) != EVENT_NEVER)
            continue;
        is_dropped[i] = true;
        is_early[i] = !(fates[stack] & FATE_DROPPED);
    }
    vec_free(fates, capacity, sizeof(*fates), budget);
    return true;
}
