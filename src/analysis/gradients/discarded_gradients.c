#include "analysis/gradients/discarded_gradients.h"

#include <stdlib.h>

#include "analysis/gradients/state_runs.h"
#include "analysis/phase/births.h"
#include "base/hash.h"

#define RUNS_MOST 8    /* that made states; with more, optimizers step in hooks */
#define LEAST     4096 /* bytes; smaller states are not counted, either */

/* A gradient that is live while an optimizer makes its state. */
struct gradient {
    size_t lifetime;
    uint64_t freed_by; /* a call of zero_grad(), 0: other code, or none */
    uint64_t size;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    struct state_runs states;
    struct state_run runs[RUNS_MOST]; /* by time */
    size_t each[RUNS_MOST];           /* states that the optimizer of a run keeps for a parameter */
    size_t run_count;
    struct gradient *gradients; /* by call, then by size */
    size_t count, capacity;
    struct budget *budget;
};

static bool collect_states(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    struct state_run run;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (finder->categories->of_lifetime[i] == CATEGORY_OPTIMIZER_STATE &&
            !state_runs_add(&finder->states, timeline, finder->phases, i, err))
            return false;
    state_runs_sort(&finder->states);
    for (size_t at = 0; state_runs_at(&finder->states, at, &run); at += run.count) {
        if (finder->run_count == RUNS_MOST) {
            finder->run_count = 0;
            return true;
        }
        finder->each[finder->run_count] = state_run_each(&run);
        finder->runs[finder->run_count++] = run;
    }
    return true;
}

/* The item at which the optimizer of a run begins to make states. */
static uint32_t begin_of(const struct finder *finder, const struct state_run *run)
{
    return finder->phases->runs[run->states->run].first;
}

/* Sets *call to a hash of the call of zero_grad() that frees at an item: of its lines, and of how
 * much was allocated before; or to 0. */
static bool find_call(const struct finder *finder, uint32_t item, uint64_t *call, struct error *err)
{
    *call = 0;
    if (item >= finder->timeline->trace->count)
        return true;
    stack_id id = finder->timeline->trace->stack[item];
    const struct stack_facts *facts = site_stack_facts(finder->sites, id, err);
    if (!facts)
        return false;
    if (facts->context != CONTEXT_ZERO_GRAD)
        return true;
    struct stack stack = symbols_stack_at(site_table_symbols(finder->sites), id);
    *call = hash_word(births_from(finder->timeline, item), 0);
    for (size_t i = stack.count; i-- > 0;)
        if (site_frame_kind(finder->sites, stack.frames[i]) == FRAME_USER)
            *call = hash_word(stack.frames[i], *call);
    return true;
}

static int compare_gradients(const void *a, const void *b)
{
    const struct gradient *x = a, *y = b;
    if (x->freed_by != y->freed_by)
        return x->freed_by < y->freed_by ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* Collects the gradients that are live when a run begins. */
static bool collect_gradients(struct finder *finder, uint32_t item, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    size_t until = births_from(timeline, item);
    finder->count = 0;
    for (size_t i = 0; i < until; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        struct gradient gradient = {
            .lifetime = i, .size = trace_size(timeline->trace, timeline->lifetimes[i].alloc)};
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT || end < item)
            continue;
        if (!find_call(finder, end, &gradient.freed_by, err) ||
            !vec_push(finder->gradients, finder->count, finder->capacity, finder->budget, err,
                      gradient))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->gradients, finder->count, sizeof(*finder->gradients), compare_gradients);
    return true;
}

/* True if the gradients [from, to) are of the parameters for which a run makes states. */
static bool are_of(const struct finder *finder, size_t from, size_t to, size_t run)
{
    const struct state_run *made = &finder->runs[run];
    size_t each = finder->each[run];
    while (from < to && finder->gradients[from].size < LEAST)
        from++;
    if (each == 0 || made->count / each != to - from || made->count % each != 0)
        return false;
    for (size_t i = 0; i < made->count; i++)
        if (made->states[i].size != finder->gradients[from + i / each].size)
            return false;
    return from < to;
}

static size_t end_of_call(const struct finder *finder, size_t from)
{
    size_t to = from + 1;
    while (to < finder->count && finder->gradients[to].freed_by == finder->gradients[from].freed_by)
        to++;
    return to;
}

/* The number of calls of zero_grad() that free the gradients of a run's parameters. */
static size_t count_calls(const struct finder *finder, size_t run)
{
    size_t calls = 0;
    for (size_t from = 0, to; from < finder->count; from = to) {
        to = end_of_call(finder, from);
        calls += finder->gradients[from].freed_by != 0 && are_of(finder, from, to, run);
    }
    return calls;
}

/* True if the gradients [from, to) are of one of the runs from `next` on, and freed before it, and
 * before any other run from there on. */
static bool are_of_later(const struct finder *finder, size_t from, size_t to, size_t next)
{
    uint32_t end = 0;
    bool any = false;
    for (size_t i = from; i < to; i++) {
        uint32_t freed = lifetime_end(&finder->timeline->lifetimes[finder->gradients[i].lifetime]);
        end = freed > end ? freed : end;
    }
    for (size_t i = next; i < finder->run_count; i++) {
        if (begin_of(finder, &finder->runs[i]) <= end)
            return false;
        any = any || are_of(finder, from, to, i);
    }
    return any;
}

/* Flags what is live when a run begins and discarded before that of its own optimizer. */
static bool judge_run(struct finder *finder, size_t run, struct discarded_gradients *discarded,
                      uint8_t *is_discarded, struct error *err)
{
    if (!collect_gradients(finder, begin_of(finder, &finder->runs[run]), err))
        return false;
    if (count_calls(finder, run) != 1)
        return true;
    for (size_t from = 0, to; from < finder->count; from = to) {
        to = end_of_call(finder, from);
        if (finder->gradients[from].freed_by == 0 || are_of(finder, from, to, run) ||
            !are_of_later(finder, from, to, run + 1))
            continue;
        for (size_t i = from; i < to; i++) {
            const struct gradient *gradient = &finder->gradients[i];
            discarded->count += !is_discarded[gradient->lifetime];
            discarded->bytes += is_discarded[gradient->lifetime] ? 0 : (int64_t)gradient->size;
            is_discarded[gradient->lifetime] = 1;
        }
    }
    return true;
}

bool discarded_gradients_find(struct discarded_gradients *discarded, uint8_t *is_discarded,
                              const struct timeline *timeline, struct site_table *sites,
                              const struct phases *phases, const struct categories *categories,
                              struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .phases = phases,
                            .categories = categories,
                            .states = {.budget = budget},
                            .budget = budget};
    *discarded = (struct discarded_gradients){0};
    bool ok = collect_states(&finder, err);
    for (size_t i = 0; ok && i + 1 < finder.run_count; i++)
        ok = judge_run(&finder, i, discarded, is_discarded, err);
    vec_free(finder.gradients, finder.capacity, sizeof(*finder.gradients), budget);
    state_runs_release(&finder.states);
    return ok;
}
