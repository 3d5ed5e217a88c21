#include "analysis/findings/freed_stacks.h"

#include <string.h>

enum { FREED = 1, KEPT = 2 }; /* what passes did with the results of a stack */

/* Notes what a forward pass that a backward pass followed did with an allocation. */
static void note(const struct freed_stacks *stacks, const struct timeline *timeline,
                 const struct phases *phases, size_t index)
{
    const struct lifetime_runs *runs = &phases->of_lifetime[index];
    stack_id stack = timeline->trace->stack[timeline->lifetimes[index].alloc];
    if (stack == STACK_NONE || runs->birth == NO_RUN)
        return;
    const struct phase_run *run = &phases->runs[runs->birth];
    if (run->phase == PHASE_FORWARD && run->is_saved)
        stacks->is_freed[stack] |= runs->end == runs->birth ? FREED : KEPT;
}

bool freed_stacks_find(struct freed_stacks *stacks, const struct timeline *timeline,
                       const struct symbols *symbols, const struct phases *phases,
                       struct error *err)
{
    struct freed_stacks made = {.budget = timeline->snapshot->budget};
    size_t count = symbols_stack_count(symbols);
    *stacks = made;
    if (timeline->by_action[ACTION_OOM] == 0)
        return true;
    if (!vec_reserve(made.is_freed, made.capacity, count + 1, made.budget, err))
        return false;
    memset(made.is_freed, 0, count + 1);
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        note(&made, timeline, phases, i);
    for (size_t i = 0; i < count; i++)
        made.is_freed[i] = made.is_freed[i] == FREED;
    *stacks = made;
    return true;
}

void freed_stacks_release(struct freed_stacks *stacks)
{
    vec_free(stacks->is_freed, stacks->capacity, sizeof(*stacks->is_freed), stacks->budget);
    *stacks = (struct freed_stacks){0};
}
