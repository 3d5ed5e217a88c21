#include "analysis/gradients/held_gradients.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"

struct made_gradient {
    stack_id stack;
    uint64_t size;
    uint32_t born;
    uint32_t pass; /* index of the first run of its backward pass */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    struct made_gradient *made; /* all gradients, ordered by compare_made() */
    size_t count, capacity;
    bool zeroes; /* zero_grad() frees gradients */
};

static int compare_made(const void *a, const void *b)
{
    const struct made_gradient *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->born > y->born) - (x->born < y->born);
}

static struct made_gradient made_of(const struct finder *finder, size_t index)
{
    const struct trace *trace = finder->timeline->trace;
    uint32_t born = finder->timeline->lifetimes[index].alloc;
    uint32_t run = finder->phases->of_lifetime[index].birth;
    return (struct made_gradient){trace->stack[born], trace_size(trace, born), born,
                                  run == NO_RUN ? NO_RUN : finder->phases->runs[run].pass};
}

bool gradient_freed_in(const struct timeline *timeline, struct site_table *sites, uint32_t item,
                       enum context *context, struct error *err)
{
    *context = CONTEXT_NONE;
    if (item == EVENT_NEVER)
        return true;
    const struct stack_facts *facts = site_stack_facts(sites, timeline->trace->stack[item], err);
    if (facts && !facts->site.has_backward)
        *context = (enum context)facts->context;
    return facts != NULL;
}

static bool freed_in(const struct finder *finder, size_t index, enum context *context,
                     struct error *err)
{
    return gradient_freed_in(finder->timeline, finder->sites,
                             lifetime_end(&finder->timeline->lifetimes[index]), context, err);
}

static bool list_made(struct finder *finder, struct budget *budget, struct error *err)
{
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        enum context context;
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        if (!freed_in(finder, i, &context, err) ||
            !vec_push(finder->made, finder->count, finder->capacity, budget, err,
                      made_of(finder, i)))
            return false;
        finder->zeroes = finder->zeroes || context == CONTEXT_ZERO_GRAD;
    }
    if (finder->count > 0)
        qsort(finder->made, finder->count, sizeof(*finder->made), compare_made);
    return true;
}

/* True if the same code makes another gradient of that size, in a later pass, before this one is
 * freed. Looks at the last of those that are made before. */
static bool is_made_again(const struct finder *finder, size_t index)
{
    struct made_gradient old = made_of(finder, index), end = old;
    size_t low = 0, high = finder->count;
    end.born = lifetime_end(&finder->timeline->lifetimes[index]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_made(&finder->made[middle], &end) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const struct made_gradient *last = &finder->made[low - 1];
    return last->stack == old.stack && last->size == old.size && last->born > old.born &&
           last->pass != old.pass;
}

static bool mark(const struct finder *finder, struct held_gradients *held, struct error *err)
{
    size_t lifetimes = finder->timeline->lifetime_count;
    if (!finder->zeroes)
        return true;
    if (!vec_reserve(held->is_held, held->capacity, lifetimes, held->budget, err))
        return false;
    memset(held->is_held, 0, lifetimes);
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        enum context context;
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        if (!freed_in(finder, i, &context, err))
            return false;
        bool by_program = context == CONTEXT_OTHER || context == CONTEXT_FORWARD;
        held->is_held[i] = by_program && is_made_again(finder, i);
        held->count += held->is_held[i];
    }
    return true;
}

bool held_gradients_find(struct held_gradients *held, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, struct error *err)
{
    struct held_gradients made = {.budget = timeline->snapshot->budget};
    struct finder finder = {timeline, sites, phases, categories, NULL, 0, 0, false};
    bool ok = list_made(&finder, made.budget, err) && mark(&finder, &made, err);
    vec_free(finder.made, finder.capacity, sizeof(*finder.made), made.budget);
    if (!ok || made.count == 0)
        held_gradients_release(&made);
    *held = made;
    return ok;
}

void held_gradients_release(struct held_gradients *held)
{
    vec_free(held->is_held, held->capacity, sizeof(*held->is_held), held->budget);
    *held = (struct held_gradients){0};
}
