#include "analysis/gradients/state_runs.h"

#include <stdlib.h>

#include "base/budget.h"

#define STACKS_MOST 64 /* of one optimizer's states */

bool state_runs_add(struct state_runs *runs, const struct timeline *timeline,
                    const struct phases *phases, size_t lifetime, struct error *err)
{
    uint32_t item = timeline->lifetimes[lifetime].alloc;
    uint64_t size = trace_size(timeline->trace, item);
    uint32_t run = phases_run_of(phases, item);
    if (run == NO_RUN || size < STATE_LEAST_SIZE ||
        phases->runs[run].evidence >= PHASE_BY_LIFETIMES) /* may be any code's */
        return true;
    return vec_push(runs->items, runs->count, runs->capacity, runs->budget, err,
                    (struct optimizer_state){size, item, run, timeline->trace->stack[item]});
}

static int compare_states(const void *a, const void *b)
{
    const struct optimizer_state *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

void state_runs_sort(struct state_runs *runs)
{
    if (runs->count > 0)
        qsort(runs->items, runs->count, sizeof(*runs->items), compare_states);
}

void state_runs_release(struct state_runs *runs)
{
    vec_free(runs->items, runs->capacity, sizeof(*runs->items), runs->budget);
    *runs = (struct state_runs){0};
}

bool state_runs_at(const struct state_runs *runs, size_t from, struct state_run *run)
{
    if (from >= runs->count)
        return false;
    *run = (struct state_run){.states = &runs->items[from]};
    while (from + run->count < runs->count &&
           runs->items[from + run->count].run == run->states->run)
        run->count++;
    return true;
}

size_t state_run_each(const struct state_run *run)
{
    stack_id stacks[STACKS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        size_t at = 0;
        while (at < count && stacks[at] != run->states[i].stack)
            at++;
        if (run->states[i].stack == STACK_NONE || at == STACKS_MOST)
            return 0;
        if (at == count)
            stacks[count++] = run->states[i].stack;
    }
    return count;
}

size_t state_run_same(const struct state_run *run, size_t begin)
{
    size_t end = begin;
    while (end < run->count && run->states[end].size == run->states[begin].size)
        end++;
    return end - begin;
}
