#include "analysis/phase/unfinished.h"

#include "analysis/phase/births.h"

#define LEAST_FREED 2 /* blocks from before the trace */

/* The number of blocks from before the trace that are freed before an item. */
static size_t count_freed(const struct timeline *timeline, uint32_t item)
{
    size_t freed = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        freed += preexisting_end(&timeline->preexisting[i]) < item;
    return freed;
}

void phases_mark_unfinished(struct phases *phases, const struct timeline *timeline)
{
    size_t made = 0;
    if (!phases->has_stacks || phases->count == 0 || phases->runs[0].phase > PHASE_OTHER)
        return;
    uint32_t end = phases_run_end(phases, 0, timeline->trace->count);
    while (made < timeline->lifetime_count && timeline->lifetimes[made].alloc < end) {
        if (timeline->trace->stack[timeline->lifetimes[made].alloc] != STACK_NONE)
            return;
        made++;
    }
    if (made == 0 || count_freed(timeline, end) < LEAST_FREED)
        return;
    phases->runs[0].phase = PHASE_BACKWARD;
    phases->runs[0].evidence = PHASE_BY_LIFETIMES;
}
