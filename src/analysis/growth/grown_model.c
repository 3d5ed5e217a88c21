#include "analysis/growth/grown_model.h"

#include <stdlib.h>

#include "model/sums.h"

#define LEAST_GRADIENTS 4 /* that a backward pass makes */
#define OLD_PART        4 /* of its gradients, 1 in this many bytes is of older parameters */

struct sizes {
    uint64_t *items;
    size_t count, capacity;
};

struct finder {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct phases *phases;
    struct budget *budget;
    size_t first, end;  /* lifetimes: from the first gradient of the pass to the last */
    uint32_t newest;    /* the item that made the newest parameter of those that grow; 0: none */
    uint32_t old_until; /* the item after the backward pass before that */
    struct sizes gradients, newer, older;
};

/* The number of backward passes before the run that made a lifetime. */
static uint32_t pass_of(const struct finder *finder, size_t index)
{
    return finder->phases->runs[finder->phases->of_lifetime[index].birth].pass;
}

/* Finds the last backward pass that made several gradients. */
static bool find_pass(struct finder *finder)
{
    size_t count = 0;
    for (size_t i = finder->timeline->lifetime_count; i-- > 0;) {
        if (finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        if (count > 0 && pass_of(finder, i) != pass_of(finder, finder->first)) {
            if (count >= LEAST_GRADIENTS)
                return true;
            count = 0;
        }
        if (count++ == 0)
            finder->end = i + 1;
        finder->first = i;
    }
    return count >= LEAST_GRADIENTS;
}

static void find_newest(struct finder *finder, const struct survivors *survivors,
                        const struct candidate *candidates, size_t count)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    for (size_t i = 0; i < count && candidates[i].fit.kind == GROWTH_GROWING; i++) {
        uint32_t group = candidates[i].group;
        if (survivors->groups.items[group].category != CATEGORY_PARAMETER)
            continue;
        for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
            const struct live *live = &survivors->items[survivors->order[at]];
            if (live->in_trace && live->index < finder->first &&
                lifetimes[live->index].alloc > finder->newest)
                finder->newest = lifetimes[live->index].alloc;
        }
    }
}

static void find_old(struct finder *finder)
{
    const struct phases *phases = finder->phases;
    for (size_t run = 0; run < phases->count && phases->runs[run].first < finder->newest; run++)
        if (phases->runs[run].phase == PHASE_BACKWARD)
            finder->old_until = phases_run_end(phases, run, finder->timeline->trace->count);
}

static bool push(struct finder *finder, struct sizes *sizes, uint64_t size, struct error *err)
{
    return vec_push(sizes->items, sizes->count, sizes->capacity, finder->budget, err, size);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (finder->categories->of_preexisting[i] == CATEGORY_PARAMETER &&
            !push(finder, &finder->older, timeline->preexisting[i].size, err))
            return false;
    for (size_t i = 0; i < finder->end; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        enum category category = (enum category)finder->categories->of_lifetime[i];
        struct sizes *sizes = category == CATEGORY_GRADIENT && i >= finder->first
                                  ? &finder->gradients
                              : category != CATEGORY_PARAMETER ? NULL
                              : alloc < finder->old_until      ? &finder->older
                                                               : &finder->newer;
        if (sizes && !push(finder, sizes, trace_size(timeline->trace, alloc), err))
            return false;
    }
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort(struct sizes *sizes)
{
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_sizes);
}

/* Takes a size out of those from *at on; false if it is not there. Sizes ascend from call to call.
 */
static bool take(const struct sizes *sizes, size_t *at, uint64_t size)
{
    while (*at < sizes->count && sizes->items[*at] < size)
        ++*at;
    if (*at == sizes->count || sizes->items[*at] != size)
        return false;
    ++*at;
    return true;
}

/* True if many gradients are of older parameters, and of none of the newest. */
static bool trains_old(struct finder *finder)
{
    size_t newer = 0, older = 0;
    int64_t all_bytes = 0, old_bytes = 0;
    sort(&finder->gradients);
    sort(&finder->newer);
    sort(&finder->older);
    for (size_t i = 0; i < finder->gradients.count; i++) {
        uint64_t size = finder->gradients.items[i];
        sum_add_capped(&all_bytes, (int64_t)size);
        if (!take(&finder->newer, &newer, size) && take(&finder->older, &older, size))
            sum_add_capped(&old_bytes, (int64_t)size);
    }
    return old_bytes > all_bytes / OLD_PART;
}

bool grown_model_find(const struct growth_builder *builder, const struct candidate *candidates,
                      size_t count, bool *grows, struct error *err)
{
    struct finder finder = {.timeline = builder->timeline,
                            .categories = builder->set.categories,
                            .phases = builder->phases,
                            .budget = builder->timeline->snapshot->budget};
    bool ok = true;
    *grows = false;
    if (!find_pass(&finder))
        return true;
    find_newest(&finder, &builder->survivors, candidates, count);
    find_old(&finder);
    if (finder.newest > 0 && finder.old_until > 0) {
        ok = collect(&finder, err);
        *grows = ok && trains_old(&finder);
    }
    struct sizes *const all[] = {&finder.gradients, &finder.newer, &finder.older};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        vec_free(all[i]->items, all[i]->capacity, sizeof(*all[i]->items), finder.budget);
    return ok;
}
