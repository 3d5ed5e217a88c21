#include "analysis/gradients/idle_later.h"

#include <string.h>

#include "analysis/phase/births.h"

struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct categories *categories;
    const struct idle_gradients *idle;
    struct budget *budget;
};

/* Where each backward pass makes its last gradient that is not idle, by the number of the pass. */
struct last_gradients {
    uint32_t *items;
    size_t count, capacity;
};

static bool find_last_gradients(const struct finder *finder, struct last_gradients *last,
                                struct error *err)
{
    const struct phases *phases = finder->phases;
    for (size_t i = 0; i < phases->count; i++)
        last->count = phases->runs[i].pass >= last->count ? phases->runs[i].pass + 1 : last->count;
    if (!vec_reserve(last->items, last->capacity, last->count + 1, finder->budget, err))
        return false;
    memset(last->items, 0, (last->count + 1) * sizeof(*last->items));
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++) {
        uint32_t made = finder->timeline->lifetimes[i].alloc, run = phases_run_of(phases, made);
        uint32_t freed_in = phases_run_of(phases, lifetime_end(&finder->timeline->lifetimes[i]));
        if (finder->categories->of_lifetime[i] == CATEGORY_GRADIENT &&
            !finder->idle->of_lifetime[i] && phases_same_backward(phases, run, run) &&
            !phases_same_backward(phases, run, freed_in))
            last->items[phases->runs[run].pass] = made;
    }
    return true;
}

/* True if a backward pass frees at an item what it needed for a gradient that is not idle. */
static bool serves_gradient(const struct finder *finder, const struct last_gradients *last,
                            uint32_t item)
{
    uint32_t run = phases_run_of(finder->phases, item);
    return phases_same_backward(finder->phases, run, run) &&
           last->items[finder->phases->runs[run].pass] > item;
}

bool idle_later_find(bool *is_trained, const struct idle_codes *codes,
                     const struct idle_gradients *idle, uint32_t from,
                     const struct timeline *timeline, const struct phases *phases,
                     const struct categories *categories, struct error *err)
{
    const struct finder finder = {timeline, phases, categories, idle, codes->budget};
    struct last_gradients last = {0};
    bool ok = find_last_gradients(&finder, &last, err), found = false;
    for (size_t i = 0; ok && !found && i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        uint8_t verdict = IDLE_UNSEEN;
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (stack == STACK_NONE || end < from ||
            categories->of_lifetime[i] != CATEGORY_ACTIVATION ||
            !serves_gradient(&finder, &last, end))
            continue;
        ok = idle_codes_judge(codes, stack, &verdict, err);
        found = verdict == IDLE_SAVED;
    }
    vec_free(last.items, last.capacity, sizeof(*last.items), finder.budget);
    if (ok)
        *is_trained = found;
    return ok;
}
