#include "analysis/findings/repeated_state.h"

#include <stdlib.h>

#include "analysis/gradients/state_runs.h"
#include "base/bisect.h"
#include "base/budget.h"

#define RUNS_MOST 8      /* that made state; with more, optimizers step in hooks */
#define NEARLY    9 / 10 /* of the older state's tensors must have a newer one */

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    struct state_runs runs;
    uint64_t *parameters; /* sizes, ascending */
    size_t parameter_count, parameter_capacity;
};

static bool collect(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        enum category category = live_category(set, live);
        if (category == CATEGORY_OPTIMIZER_STATE && live->in_trace &&
            !state_runs_add(&finder->runs, set->timeline, finder->phases, live->index, err))
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

static size_t parameters_of(const struct finder *finder, uint64_t size)
{
    const uint64_t *sizes = finder->parameters;
    size_t count = finder->parameter_count;
    return bisect_less_64(sizes, sizeof(*sizes), count, size + 1) -
           bisect_less_64(sizes, sizeof(*sizes), count, size);
}

/* True if both runs made state for all parameters of their sizes. */
static bool is_repeated(const struct finder *finder, const struct state_run *older,
                        const struct state_run *newer)
{
    size_t each = state_run_each(older), matched = 0;
    if (each == 0 || state_run_each(newer) != each)
        return false;
    for (size_t i = 0, j = 0; i < older->count;) {
        size_t count = state_run_same(older, i);
        size_t parameters = parameters_of(finder, older->states[i].size);
        while (j < newer->count && newer->states[j].size < older->states[i].size)
            j += state_run_same(newer, j);
        bool is_matched = j < newer->count && newer->states[j].size == older->states[i].size &&
                          state_run_same(newer, j) == count;
        matched += is_matched && parameters > 0 && count >= each * parameters ? count : 0;
        i += count;
    }
    return older->count > 0 && matched >= older->count * NEARLY;
}

static uint32_t first_item(const struct state_run *made)
{
    uint32_t first = made->states[0].item;
    for (size_t i = 1; i < made->count; i++)
        first = made->states[i].item < first ? made->states[i].item : first;
    return first;
}

/* Compares each run that made state with the next one. */
static void compare_runs(const struct finder *finder, struct repeated_state *found)
{
    struct state_run runs[RUNS_MOST], run;
    size_t count = 0;
    for (size_t at = 0; state_runs_at(&finder->runs, at, &run); at += run.count) {
        if (count == RUNS_MOST)
            return;
        runs[count++] = run;
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
    struct budget *budget = set->timeline->snapshot->budget;
    struct finder finder = {.set = set, .phases = phases, .runs = {.budget = budget}};
    *state = (struct repeated_state){0};
    bool ok = collect(&finder, err);
    if (ok && finder.runs.count > 0 && finder.parameter_count > 0) {
        state_runs_sort(&finder.runs);
        qsort(finder.parameters, finder.parameter_count, sizeof(*finder.parameters), compare_64);
        compare_runs(&finder, state);
    }
    state_runs_release(&finder.runs);
    vec_free(finder.parameters, finder.parameter_capacity, sizeof(*finder.parameters), budget);
    return ok;
}
