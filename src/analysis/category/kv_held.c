/* The part of a cache of keys and values that does not grow, such as that of cross-attention or of
 * a prompt, in a trace without stacks. */
#include <stdlib.h>

#include "analysis/category/kv_chains.h"

#define LEAST_OVER 2 /* rounds over which an equal block must live */

/* A block that may belong to the cache, or the last block of a chain. All frees between two births
 * make one row. */
struct held {
    uint64_t size;
    uint32_t births; /* number of births before its free */
    uint32_t index;  /* index of its lifetime */
};

static int compare(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->births != y->births)
        return x->births < y->births ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool ends_chain(const struct chain_finder *finder, size_t index)
{
    return (finder->marks[index] & MARK_CACHE) && !(finder->marks[index] & MARK_REPLACED);
}

/* The end of the equal blocks from `first` on that are freed in one row, and of which no two have a
 * round between them. A program that collects a result for each token makes one a round. */
static size_t end_of_equal(const struct chain_finder *finder, const struct held *all, size_t count,
                           size_t first)
{
    size_t end = first + 1;
    while (end < count && all[end].births == all[first].births &&
           all[end].size == all[first].size &&
           chain_rounds(finder, chain_birth(finder, all[end - 1].index),
                        chain_birth(finder, all[end].index)) == 0)
        end++;
    return end;
}

/* Decides equal blocks, if the last block of a chain is freed in the same row of frees. `ends` has
 * the numbers of births before such rows, ascending. */
static void set_equal(struct chain_finder *finder, const struct held *all, size_t count,
                      const uint32_t *ends, size_t end_count)
{
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of_equal(finder, all, count, first);
        size_t at = bisect_less(ends, sizeof(*ends), end_count, all[first].births);
        if (end - first < LEAST_ROUND || at == end_count || ends[at] != all[first].births)
            continue;
        for (size_t i = first; i < end; i++)
            chain_set(finder, all[i].index, REASON_KV_CACHE_BESIDE);
    }
}

bool chains_set_held(struct chain_finder *finder, struct error *err)
{
    struct held *all = NULL;
    uint32_t *ends = NULL;
    size_t count = 0, capacity = 0, end_count = 0, ends_capacity = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < finder->death_count; i++) {
        const struct death *death = &finder->deaths[i]; /* in the order of items */
        struct held held = {chain_size(finder, death->index),
                            (uint32_t)births_from(finder->timeline, death->item), death->index};
        if (ends_chain(finder, death->index))
            ok = vec_push(ends, end_count, ends_capacity, finder->budget, err, held.births);
        else if (!(finder->marks[death->index] & MARK_CACHE) &&
                 chain_rounds(finder, chain_birth(finder, death->index), death->item) >= LEAST_OVER)
            ok = vec_push(all, count, capacity, finder->budget, err, held);
    }
    if (ok && count > 0 && end_count > 0) {
        qsort(all, count, sizeof(*all), compare);
        set_equal(finder, all, count, ends, end_count);
    }
    vec_free(all, capacity, sizeof(*all), finder->budget);
    vec_free(ends, ends_capacity, sizeof(*ends), finder->budget);
    return ok;
}
