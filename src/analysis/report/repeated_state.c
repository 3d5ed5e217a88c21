#include "analysis/report/repeated_state.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/budget.h"

#define RUNS_MOST   8      /* that made state; with more, optimizers step in hooks */
#define STACKS_MOST 64     /* of one optimizer's states */
#define SMALL_STATE 4096   /* bytes of scalars, such as counts of steps, which are left out */
#define NEARLY      9 / 10 /* of the older state's tensors must have a newer one */

struct state {
    uint64_t size;
    uint32_t item;
    uint32_t run; /* of phases->runs */
    stack_id stack;
};

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    struct state *states; /* by run, then by size */
    size_t count, capacity;
    uint64_t *parameters; /* sizes, ascending */
    size_t parameter_count, parameter_capacity;
};

/* The states of one run of an optimizer. */
struct made {
    const struct state *states;
    size_t count;
};

static bool add_state(struct finder *finder, const struct live *live, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    uint32_t item = timeline->lifetimes[live->index].alloc;
    uint32_t run = phases_run_of(finder->phases, item);
    if (run == NO_RUN || live->size < SMALL_STATE)
        return true;
    if (!vec_reserve(finder->states, finder->capacity, finder->count + 1,
                     timeline->snapshot->budget, err))
        return false;
    finder->states[finder->count++] =
        (struct state){live->size, item, run, timeline->trace->stack[item]};
    return true;
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        enum category category = live_category(set, live);
        if (category == CATEGORY_OPTIMIZER_STATE && live->in_trace && !add_state(finder, live, err))
            return false;
        if (category != CATEGORY_PARAMETER)
            continue;
        if (!vec_reserve(finder->parameters, finder->parameter_capacity,
                         finder->parameter_count + 1, set->timeline->snapshot->budget, err))
            return false;
        finder->parameters[finder->parameter_count++] = live->size;
    }
    return true;
}

static int compare_states(const void *a, const void *b)
{
    const struct state *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t parameters_of(const struct finder *finder, uint64_t size)
{
    const uint64_t *sizes = finder->parameters;
    size_t count = finder->parameter_count;
    return bisect_less_64(sizes, sizeof(*sizes), count, size + 1) -
           bisect_less_64(sizes, sizeof(*sizes), count, size);
}

/* The states that an optimizer keeps for each parameter: each has a line of code of its own. 0: not
 * known. */
static size_t states_of_a_parameter(const struct made *made)
{
    stack_id stacks[STACKS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < made->count; i++) {
        size_t at = 0;
        while (at < count && stacks[at] != made->states[i].stack)
            at++;
        if (made->states[i].stack == STACK_NONE || at == STACKS_MOST)
            return 0;
        if (at == count)
            stacks[count++] = made->states[i].stack;
    }
    return count;
}

static size_t same_sizes(const struct made *made, size_t begin)
{
    size_t end = begin;
    while (end < made->count && made->states[end].size == made->states[begin].size)
        end++;
    return end - begin;
}

/* True if both runs made state for all parameters of their sizes. */
static bool is_repeated(const struct finder *finder, const struct made *older,
                        const struct made *newer)
{
    size_t each = states_of_a_parameter(older), matched = 0;
    if (each == 0 || states_of_a_parameter(newer) != each)
        return false;
    for (size_t i = 0, j = 0; i < older->count;) {
        size_t count = same_sizes(older, i);
        size_t parameters = parameters_of(finder, older->states[i].size);
        while (j < newer->count && newer->states[j].size < older->states[i].size)
            j += same_sizes(newer, j);
        bool is_matched = j < newer->count && newer->states[j].size == older->states[i].size &&
                          same_sizes(newer, j) == count;
        matched += is_matched && parameters > 0 && count >= each * parameters ? count : 0;
        i += count;
    }
    return older->count > 0 && matched >= older->count * NEARLY;
}

static uint32_t first_item(const struct made *made)
{
    uint32_t first = made->states[0].item;
    for (size_t i = 1; i < made->count; i++)
        first = made->states[i].item < first ? made->states[i].item : first;
    return first;
}

/* Compares each run that made state with the next one. */
static void compare_runs(const struct finder *finder, struct repeated_state *found)
{
    struct made runs[RUNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < finder->count; i++) {
        if (i == 0 || finder->states[i].run != finder->states[i - 1].run) {
            if (count == RUNS_MOST)
                return;
            runs[count++] = (struct made){.states = &finder->states[i]};
        }
        runs[count - 1].count++;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        if (!is_repeated(finder, &runs[i], &runs[i + 1]))
            continue;
        if (found->bytes == 0)
            found->first_item = first_item(&runs[i]);
        found->second_item = first_item(&runs[i + 1]);
        for (size_t j = 0; j < runs[i].count; j++)
            found->bytes += (int64_t)runs[i].states[j].size;
    }
}

bool repeated_state_find(struct repeated_state *state, const struct live_set *set,
                         const struct phases *phases, struct error *err)
{
    struct finder finder = {.set = set, .phases = phases};
    struct budget *budget = set->timeline->snapshot->budget;
    *state = (struct repeated_state){0};
    bool ok = collect(&finder, err);
    if (ok && finder.count > 0 && finder.parameter_count > 0) {
        qsort(finder.states, finder.count, sizeof(*finder.states), compare_states);
        qsort(finder.parameters, finder.parameter_count, sizeof(*finder.parameters), compare_sizes);
        compare_runs(&finder, state);
    }
    vec_free(finder.states, finder.capacity, sizeof(*finder.states), budget);
    vec_free(finder.parameters, finder.parameter_capacity, sizeof(*finder.parameters), budget);
    return ok;
}
