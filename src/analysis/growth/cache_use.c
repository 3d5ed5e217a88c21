#include "analysis/growth/cache_use.h"

#include <string.h>

#include "base/budget.h"

static bool find_longest(struct cache_use *use, struct error *err)
{
    const struct survivors *survivors = use->survivors;
    size_t stacks = symbols_stack_count(use->timeline->snapshot->symbols) + 1;
    if (!vec_reserve(use->longest, use->capacity, stacks, survivors->budget, err))
        return false;
    memset(use->longest, 0, stacks * sizeof(*use->longest));
    for (size_t i = 0; i < survivors->count; i++) {
        struct survival life = survivors->lives[i];
        uint16_t further = (uint16_t)(life.limit - life.first - 1);
        uint16_t *longest =
            &use->longest[survivors->groups.items[survivors->group[i]].source.shown];
        if (!life.before && life.limit > life.first && life.limit < use->end_count &&
            further > *longest)
            *longest = further;
    }
    return true;
}

bool cache_use_find(struct cache_use *use, size_t group, bool *in_use, uint16_t *outlived,
                    struct error *err)
{
    const struct site_group *cache = &use->survivors->groups.items[group];
    struct growth_series kept;
    struct growth_fit fit;
    if (cache->category != CATEGORY_KV_CACHE || use->trains)
        return true;
    if (!use->longest && !find_longest(use, err))
        return false;
    *outlived = 1 + use->longest[cache->source.shown];
    survivors_series(use->survivors, use->timeline, group, use->end_count, *outlived, &kept);
    growth_fit(&kept, &fit);
    *in_use = fit.kind != GROWTH_GROWING || fit.steps_grown > fit.steps_compared / 2;
    return true;
}

void cache_use_release(struct cache_use *use)
{
    vec_free(use->longest, use->capacity, sizeof(*use->longest), use->survivors->budget);
}
