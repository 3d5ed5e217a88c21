/* Blocks of a cache that are replaced all at once. A list of new keys and values is complete before
 * it takes the place of the old list, which is then freed with no allocation in between. */
#include "analysis/category/kv_chains.h"

#include <stdlib.h>

#define MOST_PER_BLOCK 64 /* births that are examined, for each block that is freed */
#define SIZES_MOST     16 /* of blocks that may replace them */

/* A block that is freed. */
struct freed {
    uint64_t size;
    size_t until; /* allocations before that */
    uint32_t item, index;
};

/* Blocks of one size that are freed in one burst, in the order in which they were made. */
struct group {
    const struct freed *blocks;
    size_t count;
    uint64_t size;
    size_t begin, until; /* births between the youngest of them and the burst */
};

struct candidate {
    uint64_t size;
    size_t count;
};

static bool may_replace(const struct chain_finder *finder, const struct group *group, size_t index)
{
    uint64_t next = chain_size(finder, index);
    return next >= group->size && next / 2 <= group->size &&
           chain_end(finder, index) > group->blocks[0].item && !(finder->marks[index] & MARK_MADE);
}

/* The smallest size of which exactly as many blocks may replace the group; 0 if there is none. */
static uint64_t next_size(const struct chain_finder *finder, const struct group *group)
{
    struct candidate candidates[SIZES_MOST];
    size_t count = 0;
    uint64_t found = 0;
    for (size_t i = group->begin; i < group->until; i++) {
        size_t at = 0;
        if (!may_replace(finder, group, i))
            continue;
        while (at < count && candidates[at].size != chain_size(finder, i))
            at++;
        if (at == SIZES_MOST)
            return 0;
        if (at == count)
            candidates[count++] = (struct candidate){.size = chain_size(finder, i)};
        candidates[at].count++;
    }
    for (size_t i = 0; i < count; i++)
        if (candidates[i].count == group->count && (found == 0 || candidates[i].size < found))
            found = candidates[i].size;
    return found;
}

static bool link_group(struct chain_finder *finder, const struct group *group, struct error *err)
{
    uint64_t size = next_size(finder, group);
    for (size_t i = group->begin, at = 0; size > 0 && at < group->count; i++) {
        if (chain_size(finder, i) != size || !may_replace(finder, group, i))
            continue;
        struct link link = {group->size, size, group->blocks[at++].index, (uint32_t)i};
        finder->marks[i] |= MARK_MADE;
        finder->marks[link.old] |= MARK_REPLACED;
        if (!vec_push(finder->links, finder->link_count, finder->links_capacity, finder->budget,
                      err, link))
            return false;
    }
    return true;
}

static int compare_freed(const void *a, const void *b)
{
    const struct freed *x = a, *y = b;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void collect(const struct chain_finder *finder, struct freed *freed)
{
    for (size_t i = 0; i < finder->death_count; i++) {
        const struct death *death = &finder->deaths[i];
        freed[i] =
            (struct freed){chain_size(finder, death->index),
                           births_from(finder->timeline, death->item), death->item, death->index};
    }
    qsort(freed, finder->death_count, sizeof(*freed), compare_freed);
}

static bool link_groups(struct chain_finder *finder, const struct freed *freed, struct error *err)
{
    for (size_t from = 0, to; from < finder->death_count; from = to) {
        for (to = from + 1; to < finder->death_count && freed[to].until == freed[from].until &&
                            freed[to].size == freed[from].size;)
            to++;
        struct group group = {.blocks = &freed[from],
                              .count = to - from,
                              .size = freed[from].size,
                              .begin = (size_t)freed[to - 1].index + 1,
                              .until = freed[from].until};
        if (group.count >= LEAST_ROUND &&
            group.until - group.begin <= group.count * MOST_PER_BLOCK &&
            !link_group(finder, &group, err))
            return false;
    }
    return true;
}

bool chains_link_bursts(struct chain_finder *finder, struct error *err)
{
    struct freed *freed = NULL;
    size_t capacity = 0;
    if (finder->death_count == 0)
        return true;
    bool ok = vec_reserve(freed, capacity, finder->death_count, finder->budget, err);
    if (ok) {
        collect(finder, freed);
        ok = link_groups(finder, freed, err);
    }
    vec_free(freed, capacity, sizeof(*freed), finder->budget);
    return ok;
}
