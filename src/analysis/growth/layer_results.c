#include "analysis/growth/layer_results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/failures.h"

#define LEAST_LAYERS 3

struct freed {
    uint32_t item, lifetime;
    stack_id stack; /* the stack that allocates */
    uint32_t burst;
};

static int by_item(const void *a, const void *b)
{
    const struct freed *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static int by_line(const void *a, const void *b)
{
    const struct freed *x = a, *y = b;
    if (x->burst != y->burst)
        return x->burst < y->burst ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Numbers the bursts, which are frees without an allocation in between. */
static void find_bursts(const struct trace *trace, struct freed *freed, size_t count)
{
    uint32_t burst = 0;
    for (size_t k = 0; k < count; k++) {
        for (uint32_t item = k > 0 ? freed[k - 1].item : freed[k].item; item < freed[k].item;
             item++)
            if (trace->action[item] == trace->birth) {
                burst++;
                break;
            }
        freed[k].burst = burst;
    }
}

static void mark(struct layer_results *results, const struct freed *freed, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && by_line(&freed[first], &freed[end]) == 0;)
            end++;
        for (size_t k = first; end - first >= LEAST_LAYERS && k < end; k++)
            results->is_result[freed[k].lifetime] = 1;
    }
}

uint32_t layer_results_end(const struct phases *phases, uint32_t run, size_t items)
{
    uint32_t next = run + 1;
    while (next < phases->count && phases->runs[next].phase == PHASE_OTHER)
        next++; /* the code that called the model drops the model's result */
    return next < phases->count ? phases->runs[next].first : (uint32_t)items;
}

/* The same if a variable holds the results until the next pass, which no backward pass precedes,
 * sets it again. */
static uint32_t end_in_variable(const struct phases *phases, uint32_t run, size_t items)
{
    uint32_t next = run + 1;
    while (next < phases->count &&
           (phases->runs[next].phase == PHASE_OTHER || phases->runs[next].phase == PHASE_DATA))
        next++;
    if (next == phases->count || phases->runs[next].phase != PHASE_FORWARD)
        next = run;
    return layer_results_end(phases, next, items);
}

/* `run` is the forward run that contains the moment. */
static bool find(struct layer_results *results, const struct timeline *timeline,
                 const struct phases *phases, uint32_t run, uint32_t moment, struct error *err)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    uint32_t end = end_in_variable(phases, run, timeline->trace->count);
    struct freed *freed = NULL;
    struct failures failures = {.budget = results->budget};
    size_t count = 0, capacity = 0;
    bool ok = failures_find(&failures, timeline, err);
    for (size_t i = births_from(timeline, phases->runs[run].first);
         ok && i < timeline->lifetime_count && lifetimes[i].alloc <= moment; i++) {
        uint32_t item = lifetime_end(&lifetimes[i]);
        stack_id stack = timeline->trace->stack[lifetimes[i].alloc];
        if (item > moment && item < end && stack != STACK_NONE &&
            !failures_between(&failures, lifetimes[i].alloc, item))
            ok = vec_push(freed, count, capacity, results->budget, err,
                          (struct freed){item, (uint32_t)i, stack, 0});
    }
    if (ok && count > 0) {
        qsort(freed, count, sizeof(*freed), by_item);
        find_bursts(timeline->trace, freed, count);
        qsort(freed, count, sizeof(*freed), by_line);
        mark(results, freed, count);
    }
    vec_free(freed, capacity, sizeof(*freed), results->budget);
    failures_release(&failures);
    return ok;
}

bool layer_results_find(struct layer_results *results, const struct timeline *timeline,
                        const struct phases *phases, int64_t item, struct error *err)
{
    struct layer_results made = {.budget = timeline->snapshot->budget};
    *results = (struct layer_results){0};
    if (!vec_reserve(made.is_result, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_result, 0, timeline->lifetime_count + 1);
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
    if (run != NO_RUN && phases->runs[run].phase == PHASE_FORWARD &&
        !find(&made, timeline, phases, run, (uint32_t)item, err)) {
        layer_results_release(&made);
        return false;
    }
    *results = made;
    return true;
}

void layer_results_release(struct layer_results *results)
{
    vec_free(results->is_result, results->capacity, sizeof(*results->is_result), results->budget);
    *results = (struct layer_results){0};
}
