#include "analysis/report/loaded_weights.h"

#include <stdlib.h>

#include "base/budget.h"
#include "model/peak_without.h"

#define MOST 8 / 10 /* of the model's parameters must have been loaded */

struct weight {
    uint64_t size;
    uint32_t lifetime;
    bool is_loaded;
};

struct finder {
    const struct live_set *set;
    struct weight *weights; /* by size; those that were loaded first */
    size_t count, capacity;
    struct absence *absences;
    size_t absent, absences_capacity;
    uint64_t own_bytes, matched_bytes; /* of parameters that were not loaded; of those in pairs */
    struct budget *budget;
};

static bool add(struct finder *finder, const struct live *live, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->set->sites, live->stack, err);
    if (!facts)
        return false;
    bool is_own = live_category(finder->set, live) == CATEGORY_PARAMETER && !facts->is_deep_copy;
    if (!facts->is_loaded && !is_own)
        return true;
    return vec_push(finder->weights, finder->count, finder->capacity, finder->budget, err,
                    (struct weight){live->size, live->index, facts->is_loaded});
}

static int compare_weights(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->is_loaded != y->is_loaded)
        return x->is_loaded ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        if (live->in_trace && live->stack != STACK_NONE && !add(finder, live, err))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->weights, finder->count, sizeof(*finder->weights), compare_weights);
    return true;
}

/* Pairs the parameters of one size, weights [from, to), with loaded tensors. */
static bool pair(struct finder *finder, size_t from, size_t to, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    size_t own = from;
    while (own < to && finder->weights[own].is_loaded)
        own++;
    size_t pairs = own - from < to - own ? own - from : to - own;
    finder->own_bytes += (to - own) * finder->weights[from].size;
    finder->matched_bytes += pairs * finder->weights[from].size;
    for (size_t i = from; i < from + pairs; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[finder->weights[i].lifetime];
        struct absence absence = {lifetime->alloc, lifetime->free_completed,
                                  finder->weights[i].size};
        if (!vec_push(finder->absences, finder->absent, finder->absences_capacity, finder->budget,
                      err, absence))
            return false;
    }
    return true;
}

static bool pair_all(struct finder *finder, struct error *err)
{
    for (size_t from = 0, to; from < finder->count; from = to) {
        for (to = from; to < finder->count; to++)
            if (finder->weights[to].size != finder->weights[from].size)
                break;
        if (!pair(finder, from, to, err))
            return false;
    }
    return true;
}

bool loaded_weights_find(struct loaded_weights *loaded, const struct live_set *set,
                         struct error *err)
{
    struct finder finder = {.set = set, .budget = set->timeline->snapshot->budget};
    int64_t peak;
    *loaded = (struct loaded_weights){0};
    bool ok = collect(&finder, err) && pair_all(&finder, err);
    if (ok && finder.absent > 0 && finder.matched_bytes >= finder.own_bytes * MOST) {
        ok = timeline_peak_without(set->timeline, finder.absences, finder.absent, &peak, err);
        if (ok)
            *loaded = (struct loaded_weights){(int64_t)finder.matched_bytes,
                                              set->timeline->active.peak_bytes - peak};
    }
    vec_free(finder.weights, finder.capacity, sizeof(*finder.weights), finder.budget);
    vec_free(finder.absences, finder.absences_capacity, sizeof(*finder.absences), finder.budget);
    return ok;
}
