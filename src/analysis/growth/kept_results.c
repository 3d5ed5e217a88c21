#include "analysis/growth/kept_results.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "model/peak_without.h"

#define REPLACED 64 /* items at most from the new block to the end of the old one */

/* A tensor that counts from item `from` on until item `to`, at which its memory is free again. */
struct held {
    uint32_t from, to, lifetime;
};

struct finder {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct steps *steps;
    const uint8_t *is_dropped;
    bool *is_replaced; /* by stack: a block of the code has been replaced */
    size_t stack_capacity;
    struct held *held;
    size_t count, capacity;
    struct budget *budget;
};

static bool may_be_result(const struct finder *finder, size_t index)
{
    switch ((enum category)finder->categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_INPUT:
    case CATEGORY_AUTOGRAD_DETAIL:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc] !=
                   STACK_NONE &&
               !(finder->is_dropped && finder->is_dropped[index]);
    default:
        return false;
    }
}

/* True if the code that made the block made another one right before the item `end`, at which the
 * block is freed. */
static bool is_set_again(const struct finder *finder, size_t index, uint32_t end)
{
    const struct trace *trace = finder->timeline->trace;
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    uint32_t alloc = lifetimes[index].alloc, from = end > REPLACED ? end - REPLACED : 0;
    for (size_t i = births_from(finder->timeline, from);
         i < finder->timeline->lifetime_count && lifetimes[i].alloc < end; i++)
        if (i > index && trace->stack[lifetimes[i].alloc] == trace->stack[alloc] &&
            trace_size(trace, lifetimes[i].alloc) == trace_size(trace, alloc) &&
            lifetime_end(&lifetimes[i]) > end)
            return true;
    return false;
}

static bool add(struct finder *finder, size_t index, size_t step, uint32_t to, struct error *err)
{
    struct held held = {finder->steps->items[step].last + 1, to, (uint32_t)index};
    return vec_push(finder->held, finder->count, finder->capacity, finder->budget, err, held);
}

static bool find_replaced(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        if (end == EVENT_NEVER || !may_be_result(finder, i))
            continue;
        size_t made = steps_of(finder->steps, alloc);
        if (made == NO_STEP || end <= finder->steps->items[made].last)
            continue;
        if (!is_set_again(finder, i, end))
            continue;
        finder->is_replaced[timeline->trace->stack[alloc]] = true;
        if (!add(finder, i, made, timeline->lifetimes[i].free_completed, err))
            return false;
    }
    return true;
}

/* Those of the last complete step that the trace ends with, as when memory runs out. */
static bool find_last(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    const struct steps *steps = finder->steps;
    size_t step = steps->count - 2;
    for (size_t i = births_from(timeline, steps->items[step].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= steps->items[step].last;
         i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        if (lifetime_end(&timeline->lifetimes[i]) == EVENT_NEVER && may_be_result(finder, i) &&
            finder->is_replaced[timeline->trace->stack[alloc]] &&
            !add(finder, i, step, EVENT_NEVER, err))
            return false;
    }
    return true;
}

static bool measure(const struct finder *finder, int64_t *save_bytes, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    struct absence *absences = NULL;
    size_t capacity = 0;
    int64_t peak;
    if (!vec_reserve(absences, capacity, finder->count, finder->budget, err))
        return false;
    for (size_t i = 0; i < finder->count; i++) {
        const struct held *held = &finder->held[i];
        uint32_t alloc = timeline->lifetimes[held->lifetime].alloc;
        absences[i] = (struct absence){held->from, held->to, trace_size(timeline->trace, alloc)};
    }
    bool ok = timeline_peak_without(timeline, absences, finder->count, &peak, err);
    if (ok)
        *save_bytes = timeline->active.peak_bytes - peak;
    vec_free(absences, capacity, sizeof(*absences), finder->budget);
    return ok;
}

/* Marks what counts at the peak. */
static bool mark(const struct finder *finder, struct kept_results *kept, struct error *err)
{
    size_t count = finder->timeline->lifetime_count;
    int64_t peak = finder->timeline->active.peak_event;
    if (!vec_reserve(kept->is_kept, kept->capacity, count, finder->budget, err))
        return false;
    memset(kept->is_kept, 0, count);
    for (size_t i = 0; i < finder->count; i++) {
        const struct held *held = &finder->held[i];
        if (peak < (int64_t)held->from || peak >= (int64_t)held->to)
            continue;
        kept->is_kept[held->lifetime] = 1;
        kept->at_peak_bytes +=
            trace_size(finder->timeline->trace, finder->timeline->lifetimes[held->lifetime].alloc);
    }
    return kept->at_peak_bytes == 0 || measure(finder, &kept->save_bytes, err);
}

bool kept_results_find(struct kept_results *kept, const struct timeline *timeline,
                       const struct categories *categories, const struct steps *steps,
                       const uint8_t *is_dropped, struct error *err)
{
    struct kept_results made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .categories = categories,
                            .steps = steps,
                            .is_dropped = is_dropped,
                            .budget = made.budget};
    *kept = (struct kept_results){0};
    if (steps->count < 2)
        return true;
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols);
    bool ok = vec_reserve(finder.is_replaced, finder.stack_capacity, stacks, made.budget, err);
    if (ok)
        memset(finder.is_replaced, 0, stacks * sizeof(*finder.is_replaced));
    ok = ok && find_replaced(&finder, err) && find_last(&finder, err) &&
         (finder.count == 0 || mark(&finder, &made, err));
    vec_free(finder.is_replaced, finder.stack_capacity, sizeof(*finder.is_replaced), made.budget);
    vec_free(finder.held, finder.capacity, sizeof(*finder.held), made.budget);
    if (!ok || made.at_peak_bytes == 0)
        kept_results_release(&made);
    else
        *kept = made;
    return ok;
}

void kept_results_release(struct kept_results *kept)
{
    vec_free(kept->is_kept, kept->capacity, sizeof(*kept->is_kept), kept->budget);
    *kept = (struct kept_results){0};
}
