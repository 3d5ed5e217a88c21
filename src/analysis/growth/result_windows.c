#define _GNU_SOURCE /* qsort_r */
#include "analysis/growth/result_windows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"

#define LEAST_AGE    3 /* steps: a variable may hold the results of the last step or two */
#define LEAST_KEPT   2 /* as many times as are freed stay: a variable keeps one result */
#define LEAST_SLIDES 3 /* times that the oldest results are freed and as many are left */

/* A result that outlives the step that made it. */
struct result {
    stack_id stack;
    uint32_t lifetime, end, age; /* age: in steps, when the program frees it */
};

struct finder {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct phases *phases;
    const struct steps *steps;
    struct result *results;
    uint32_t *by_end; /* of one stack: its results in the order in which they are freed */
    size_t count, capacity, end_capacity;
    struct budget *budget;
};

static bool may_be_result(const struct finder *finder, size_t index)
{
    uint32_t run = finder->phases->of_lifetime[index].end;
    if (run != NO_RUN && finder->phases->runs[run].phase == PHASE_BACKWARD)
        return false;
    switch ((enum category)finder->categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_INPUT:
    case CATEGORY_AUTOGRAD_DETAIL:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return true;
    default:
        return false;
    }
}

/* The step in which an item lies, or else the next one. */
static size_t step_at(const struct finder *finder, uint32_t item)
{
    size_t low = 0, high = finder->steps->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (finder->steps->items[middle].last < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    const struct step *steps = finder->steps->items;
    size_t step = 0; /* the first that ends with the allocation or after it */
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        while (step < finder->steps->count && steps[step].last < alloc)
            step++;
        if (step == finder->steps->count)
            break;
        struct result result = {
            .stack = timeline->trace->stack[alloc], .lifetime = (uint32_t)i, .end = end};
        if (result.stack == STACK_NONE || steps[step].first > alloc || end <= steps[step].last ||
            !may_be_result(finder, i))
            continue;
        result.age = end == EVENT_NEVER ? 0 : (uint32_t)(step_at(finder, end) - step);
        if (!vec_push(finder->results, finder->count, finder->capacity, finder->budget, err,
                      result))
            return false;
    }
    return true;
}

static int compare_stacks(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

static int compare_ends(const void *a, const void *b, void *context)
{
    const struct result *results = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (results[x].end != results[y].end)
        return results[x].end < results[y].end ? -1 : 1;
    return (x > y) - (x < y);
}

/* Visits the times at which results of one stack are freed, with none made in between. */
struct slides {
    const struct finder *finder;
    const struct result *results;
    const uint32_t *by_end;
    size_t count;
    size_t born, freed; /* how many are, up to now */
    size_t left, times; /* how many were left the last time, and how often as many were */
    bool is_window;
};

/* Goes on to the next time. True if the oldest results, and not all, were freed then. */
static bool slide(struct slides *slides)
{
    const struct lifetime *lifetimes = slides->finder->timeline->lifetimes;
    size_t first = slides->freed;
    bool is_old = true;
    uint32_t end = slides->results[slides->by_end[first]].end;
    while (slides->born < slides->count &&
           lifetimes[slides->results[slides->born].lifetime].alloc < end)
        slides->born++;
    uint32_t next = slides->born < slides->count
                        ? lifetimes[slides->results[slides->born].lifetime].alloc
                        : EVENT_NEVER;
    for (; slides->freed < slides->count; slides->freed++) {
        const struct result *result = &slides->results[slides->by_end[slides->freed]];
        if (result->end >= next)
            break;
        is_old = is_old && result->age >= LEAST_AGE;
    }
    size_t left = slides->born - slides->freed;
    if (left == 0)
        return false;
    /* those that were freed so far are the oldest if each has a place before the number of them */
    for (size_t i = first; i < slides->freed; i++)
        if (slides->by_end[i] >= slides->freed) {
            slides->is_window = false;
            return false;
        }
    slides->times = left == slides->left ? slides->times + 1 : 1;
    slides->left = left;
    return is_old && left >= LEAST_KEPT * (slides->freed - first);
}

static bool is_window(struct finder *finder, const struct result *results, size_t count)
{
    size_t most = 0;
    struct slides slides = {.finder = finder,
                            .results = results,
                            .by_end = finder->by_end,
                            .count = count,
                            .is_window = true};
    for (size_t i = 0; i < count; i++)
        finder->by_end[i] = (uint32_t)i;
    qsort_r(finder->by_end, count, sizeof(*finder->by_end), compare_ends, (void *)results);
    while (slides.is_window && slides.freed < count &&
           results[slides.by_end[slides.freed]].end != EVENT_NEVER)
        if (slide(&slides) && slides.times > most)
            most = slides.times;
    return slides.is_window && most >= LEAST_SLIDES;
}

static bool find(struct finder *finder, struct result_windows *windows, struct error *err)
{
    size_t stacks = symbols_stack_count(finder->timeline->snapshot->symbols) + 1;
    if (finder->count == 0)
        return true;
    if (!vec_reserve(windows->is_window, windows->capacity, stacks, finder->budget, err) ||
        !vec_reserve(finder->by_end, finder->end_capacity, finder->count, finder->budget, err))
        return false;
    memset(windows->is_window, 0, stacks);
    qsort(finder->results, finder->count, sizeof(*finder->results), compare_stacks);
    for (size_t i = 0, next; i < finder->count; i = next) {
        for (next = i + 1; next < finder->count; next++)
            if (finder->results[next].stack != finder->results[i].stack)
                break;
        windows->is_window[finder->results[i].stack] =
            is_window(finder, &finder->results[i], next - i);
    }
    return true;
}

bool result_windows_find(struct result_windows *windows, const struct timeline *timeline,
                         const struct categories *categories, const struct phases *phases,
                         const struct steps *steps, struct error *err)
{
    struct result_windows made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .categories = categories,
                            .phases = phases,
                            .steps = steps,
                            .budget = made.budget};
    bool ok = steps->count <= LEAST_AGE || (collect(&finder, err) && find(&finder, &made, err));
    vec_free(finder.results, finder.capacity, sizeof(*finder.results), finder.budget);
    vec_free(finder.by_end, finder.end_capacity, sizeof(*finder.by_end), finder.budget);
    if (ok)
        *windows = made;
    else
        result_windows_release(&made);
    return ok;
}

bool result_windows_have(const struct result_windows *windows, const struct timeline *timeline,
                         size_t lifetime)
{
    stack_id stack = timeline->trace->stack[timeline->lifetimes[lifetime].alloc];
    return windows->is_window && stack != STACK_NONE && windows->is_window[stack];
}

void result_windows_release(struct result_windows *windows)
{
    vec_free(windows->is_window, windows->capacity, sizeof(*windows->is_window), windows->budget);
    *windows = (struct result_windows){0};
}
