#include "analysis/growth/survivors.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define WEIGHT_MOST ((uint64_t)1 << 30)
#define BYTES_MOST  ((int64_t)1 << 62)

static int64_t add_bytes(int64_t sum, uint64_t size)
{
    return size >= (uint64_t)(BYTES_MOST - sum) ? BYTES_MOST : sum + (int64_t)size;
}

static uint64_t size_of(const struct timeline *timeline, const struct live *live)
{
    return live->in_trace ? trace_size(timeline->trace, timeline->lifetimes[live->index].alloc)
                          : timeline->preexisting[live->index].size;
}

/* The number of ends before `item`. */
static size_t ends_before(const struct step_ends *ends, uint32_t item)
{
    return bisect_less(ends->items, sizeof(*ends->items), ends->count, item);
}

static bool add_survivor(struct survivors *survivors, struct live live, struct survival life,
                         struct error *err)
{
    if (life.first >= life.limit && !life.before)
        return true;
    size_t need = survivors->count + 1;
    if (!vec_reserve(survivors->items, survivors->items_capacity, need, survivors->budget, err) ||
        !vec_reserve(survivors->lives, survivors->lives_capacity, need, survivors->budget, err))
        return false;
    live.size = live.size < WEIGHT_MOST ? live.size : WEIGHT_MOST;
    survivors->items[survivors->count] = live;
    survivors->lives[survivors->count++] = life;
    return true;
}

static bool collect_preexisting(struct survivors *survivors, const struct timeline *timeline,
                                const struct step_ends *ends, struct error *err)
{
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        struct live live = live_of_preexisting(timeline, i);
        uint32_t freed = preexisting_end(preexisting);
        struct survival life = {.limit = (uint16_t)ends_before(ends, freed),
                                .before = (int64_t)freed > ends->before};
        if (preexisting->in_allocated && !add_survivor(survivors, live, life, err))
            return false;
    }
    return true;
}

static bool collect_lifetimes(struct survivors *survivors, const struct timeline *timeline,
                              const struct step_ends *ends, struct error *err)
{
    size_t next = 0; /* the first end at or after the allocation */
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        while (next < ends->count && ends->items[next] < lifetime->alloc)
            next++;
        if (next == ends->count)
            return true;
        uint32_t freed = lifetime_end(lifetime);
        bool before = (int64_t)lifetime->alloc <= ends->before && (int64_t)freed > ends->before;
        if (freed <= ends->items[next] && !before)
            continue; /* nearly all allocations */
        struct live live = live_of_lifetime(timeline, i);
        struct survival life = {
            .first = (uint16_t)next, .limit = (uint16_t)ends_before(ends, freed), .before = before};
        if (!add_survivor(survivors, live, life, err))
            return false;
    }
    return true;
}

/* Counting sort of the survivors by group. */
static bool sort_by_group(struct survivors *survivors, struct error *err)
{
    size_t groups = survivors->groups.count;
    if (!vec_grow((void **)&survivors->order, &survivors->order_capacity, survivors->count,
                  sizeof(uint32_t), survivors->budget, err) ||
        !vec_grow((void **)&survivors->begins, &survivors->begins_capacity, groups + 2,
                  sizeof(uint32_t), survivors->budget, err))
        return false;
    uint32_t *begins = survivors->begins;
    memset(begins, 0, (groups + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < survivors->count; i++)
        begins[survivors->group[i] + 2]++;
    for (size_t i = 2; i < groups + 2; i++)
        begins[i] += begins[i - 1];
    for (size_t i = 0; i < survivors->count; i++)
        survivors->order[begins[survivors->group[i] + 1]++] = (uint32_t)i;
    return true;
}

/* What has no stack is one group: only its categories tell it apart, which are inferred, so that
 * they may differ from step to step for the same code. */
static void join_without_stack(struct survivors *survivors)
{
    struct site_groups *groups = &survivors->groups;
    if (groups->count <= groups->placed + 1)
        return;
    struct site_group *all = &groups->items[groups->placed];
    all->category = CATEGORY_UNKNOWN;
    groups->count = groups->placed + 1;
    for (size_t i = 0; i < survivors->count; i++)
        if (survivors->group[i] > groups->placed)
            survivors->group[i] = (uint32_t)groups->placed;
}

bool survivors_find(struct survivors *survivors, const struct live_set *set,
                    const struct step_ends *ends, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct survivors made = {.budget = timeline->snapshot->budget};
    bool ok = collect_preexisting(&made, timeline, ends, err) &&
              collect_lifetimes(&made, timeline, ends, err) &&
              vec_grow((void **)&made.group, &made.group_capacity, made.count + 1, sizeof(uint32_t),
                       made.budget, err);
    struct live_set all = *set;
    all.items = made.items;
    all.count = made.count;
    ok = ok && site_groups_make_members(&all, &made.groups, made.group, err);
    if (ok)
        join_without_stack(&made);
    ok = ok && sort_by_group(&made, err);
    if (!ok) {
        survivors_release(&made);
        return false;
    }
    *survivors = made;
    return true;
}

void survivors_release(struct survivors *survivors)
{
    struct budget *budget = survivors->budget;
    vec_free(survivors->items, survivors->items_capacity, sizeof(*survivors->items), budget);
    vec_free(survivors->lives, survivors->lives_capacity, sizeof(*survivors->lives), budget);
    vec_free(survivors->group, survivors->group_capacity, sizeof(uint32_t), budget);
    vec_free(survivors->order, survivors->order_capacity, sizeof(uint32_t), budget);
    vec_free(survivors->begins, survivors->begins_capacity, sizeof(uint32_t), budget);
    site_groups_release(&survivors->groups);
    *survivors = (struct survivors){0};
}

/* Computed from the differences between consecutive ends. */
void survivors_series(const struct survivors *survivors, const struct timeline *timeline,
                      size_t group, size_t end_count, uint16_t outlived,
                      struct growth_series *series)
{
    uint64_t change[GROWTH_STEPS + 1];  /* bytes, modulo 2^64: exact if the sum fits */
    uint32_t changes[GROWTH_STEPS + 1]; /* allocations, modulo 2^32 */
    memset(change, 0, (end_count + 1) * sizeof(change[0]));
    memset(changes, 0, (end_count + 1) * sizeof(changes[0]));
    series->count = end_count;
    series->before_bytes = 0;
    series->freed = 0;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        struct survival life = survivors->lives[survivors->order[at]];
        uint64_t size = size_of(timeline, live);
        if (life.before)
            series->before_bytes = add_bytes(series->before_bytes, size);
        size_t first = (size_t)life.first + outlived - (life.before && outlived > 0);
        if (first >= life.limit)
            continue;
        change[first] += size;
        change[life.limit] -= size;
        changes[first]++;
        changes[life.limit]--;
        series->freed += life.limit < end_count;
    }
    uint64_t bytes = 0;
    uint32_t blocks = 0;
    for (size_t k = 0; k < end_count; k++) {
        bytes += change[k];
        blocks += changes[k];
        series->bytes[k] = add_bytes(0, bytes);
        series->blocks[k] = blocks;
    }
}
