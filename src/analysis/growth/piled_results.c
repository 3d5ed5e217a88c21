#include "analysis/growth/piled_results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "base/budget.h"
#include "model/peak_without.h"

/* Steps of which the same code's tensors are freed together. A request may take several forward
 * passes, and needs their results until it is done. */
#define LEAST_STEPS  3
#define LEAST_PASSES 8

/* A tensor that outlives the step that made it, and is freed at item `end`. */
struct item {
    uint32_t end, burst, lifetime, step;
    stack_id stack;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    const struct steps *steps;
    const struct result_windows *windows;
    const uint8_t *is_dropped;
    size_t least;         /* LEAST_STEPS or LEAST_PASSES */
    uint8_t *is_of_piled; /* by stack: it made tensors that count */
    struct item *items;
    size_t count, capacity, stack_capacity;
    struct budget *budget;
};

static bool may_be_result(const struct finder *finder, size_t index)
{
    switch ((enum category)finder->categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_INPUT:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return !finder->is_dropped || !finder->is_dropped[index];
    default:
        return false;
    }
}

/* Adds a tensor unless a backward pass frees it. */
static bool add(struct finder *finder, uint32_t index, uint32_t step, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime), run = finder->phases->of_lifetime[index].end;
    stack_id stack = trace->stack[lifetime->alloc];
    if (stack == STACK_NONE || end == EVENT_NEVER ||
        (run != NO_RUN && finder->phases->runs[run].phase == PHASE_BACKWARD))
        return true;
    const struct stack_facts *facts = site_stack_facts(finder->sites, trace->stack[end], err);
    if (!facts)
        return false;
    struct item item = {.end = end, .lifetime = index, .step = step, .stack = stack};
    return facts->site.has_backward ||
           vec_push(finder->items, finder->count, finder->capacity, finder->budget, err, item);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    const struct step *steps = finder->steps->items;
    size_t step = 0; /* the first that ends with the allocation or after it */
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        while (step < finder->steps->count && steps[step].last < alloc)
            step++;
        if (step == finder->steps->count)
            break;
        if (steps[step].first <= alloc &&
            lifetime_end(&timeline->lifetimes[i]) > steps[step].last && may_be_result(finder, i) &&
            !add(finder, (uint32_t)i, (uint32_t)step, err))
            return false;
    }
    return true;
}

static int compare_ends(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

static int compare_bursts(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->burst != y->burst)
        return x->burst < y->burst ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

/* Numbers the bursts: frees with no allocation in between. */
static void find_bursts(struct finder *finder)
{
    const struct trace *trace = finder->timeline->trace;
    uint32_t burst = 0;
    qsort(finder->items, finder->count, sizeof(*finder->items), compare_ends);
    for (size_t i = 0; i < finder->count; i++) {
        uint32_t from = i > 0 ? finder->items[i - 1].end : finder->items[i].end;
        for (uint32_t item = from; item < finder->items[i].end; item++)
            if (trace->action[item] == ACTION_ALLOC) {
                burst++;
                break;
            }
        finder->items[i].burst = burst;
    }
    qsort(finder->items, finder->count, sizeof(*finder->items), compare_bursts);
}

/* Keeps the tensors of each burst whose code made some in enough steps, and those in windows. */
static void keep_piled(struct finder *finder)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < finder->count; i = next) {
        const struct item *first = &finder->items[i];
        size_t steps = 1;
        for (next = i + 1; next < finder->count && finder->items[next].burst == first->burst &&
                           finder->items[next].stack == first->stack;
             next++)
            steps += finder->items[next].step != finder->items[next - 1].step;
        if (steps < finder->least &&
            !result_windows_have(finder->windows, finder->timeline, first->lifetime))
            continue;
        finder->is_of_piled[first->stack] = 1;
        for (size_t j = i; j < next; j++)
            finder->items[kept++] = finder->items[j];
    }
    finder->count = kept;
}

/* Adds what the same code has made and nothing frees in the trace, but not what it made last. */
static bool add_last(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    size_t step = finder->steps->count - 1; /* the last, which may still need its results */
    for (size_t i = timeline->lifetime_count; i-- > 0;) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        stack_id stack = timeline->trace->stack[alloc];
        while (step > 0 && finder->steps->items[step].first > alloc)
            step--;
        if (step + 1 == finder->steps->count || finder->steps->items[step].last < alloc ||
            finder->steps->items[step].first > alloc || !finder->is_of_piled[stack] ||
            lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER || !may_be_result(finder, i))
            continue;
        struct item item = {
            .end = EVENT_NEVER, .lifetime = (uint32_t)i, .step = (uint32_t)step, .stack = stack};
        if (!vec_push(finder->items, finder->count, finder->capacity, finder->budget, err, item))
            return false;
    }
    return true;
}

static uint32_t counts_from(const struct finder *finder, const struct item *item)
{
    return finder->steps->items[item->step].last + 1;
}

static bool measure(const struct finder *finder, int64_t *save_bytes, struct error *err)
{
    struct absences absences = {.budget = finder->budget};
    bool ok = true;
    for (size_t i = 0; ok && i < finder->count; i++) {
        struct absence absence = absence_of_lifetime(finder->timeline, finder->items[i].lifetime);
        absence.from = counts_from(finder, &finder->items[i]);
        ok = absences_add(&absences, absence, err);
    }
    ok = ok && absences_save(&absences, finder->timeline, save_bytes, err);
    absences_release(&absences);
    return ok;
}

/* Marks what counts at the peak. */
static bool mark(const struct finder *finder, struct piled_results *piled, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    int64_t peak = timeline->active.peak_event;
    uint8_t *is_counted = NULL; /* by step */
    uint64_t bytes = 0, window_bytes = 0;
    size_t capacity = 0, lifetimes = timeline->lifetime_count + 1;
    if (!vec_reserve(piled->is_piled, piled->capacity, lifetimes, finder->budget, err) ||
        !vec_reserve(is_counted, capacity, finder->steps->count, finder->budget, err))
        return false;
    memset(piled->is_piled, 0, lifetimes);
    memset(is_counted, 0, finder->steps->count);
    for (size_t i = 0; i < finder->count; i++) {
        const struct item *item = &finder->items[i];
        if (peak < (int64_t)counts_from(finder, item) ||
            peak >= (int64_t)timeline->lifetimes[item->lifetime].free_completed)
            continue;
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[item->lifetime].alloc);
        piled->is_piled[item->lifetime] = 1;
        bytes += size;
        window_bytes += result_windows_have(finder->windows, timeline, item->lifetime) ? size : 0;
        piled->steps += !is_counted[item->step];
        is_counted[item->step] = 1;
    }
    vec_free(is_counted, capacity, sizeof(*is_counted), finder->budget);
    piled->in_windows = window_bytes > bytes / 2;
    return piled->steps == 0 || measure(finder, &piled->save_bytes, err);
}

bool piled_results_find(struct piled_results *piled, const struct timeline *timeline,
                        struct site_table *sites, const struct categories *categories,
                        const struct phases *phases, const struct steps *steps,
                        const struct result_windows *windows, const uint8_t *is_dropped,
                        struct error *err)
{
    struct piled_results made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .categories = categories,
                            .phases = phases,
                            .steps = steps,
                            .windows = windows,
                            .is_dropped = is_dropped,
                            .budget = made.budget};
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols) + 1;
    finder.least = steps->source == STEPS_FORWARD ? LEAST_PASSES : LEAST_STEPS;
    bool ok = steps->count < finder.least || collect(&finder, err);
    if (ok && finder.count > 0) {
        ok = vec_reserve(finder.is_of_piled, finder.stack_capacity, stacks, made.budget, err);
        if (ok) {
            memset(finder.is_of_piled, 0, stacks);
            find_bursts(&finder);
            keep_piled(&finder);
        }
        ok = ok && (finder.count == 0 || (add_last(&finder, err) && mark(&finder, &made, err)));
    }
    vec_free(finder.is_of_piled, finder.stack_capacity, 1, made.budget);
    vec_free(finder.items, finder.capacity, sizeof(*finder.items), finder.budget);
    if (!ok || made.steps == 0)
        piled_results_release(&made);
    if (ok)
        *piled = made;
    return ok;
}

void piled_results_release(struct piled_results *piled)
{
    vec_free(piled->is_piled, piled->capacity, sizeof(*piled->is_piled), piled->budget);
    *piled = (struct piled_results){0};
}
