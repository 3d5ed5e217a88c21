/* Caches of keys and values in a trace without stacks, of a program that only runs forward passes.
 * They are recognised by how their blocks replace each other.
 *
 * A growing cache is concatenated: a larger block is made, and right after that the block that it
 * replaces is freed. That happens twice for each layer, for keys and for values. So several blocks
 * of one size are live together, and are replaced in one round, and again in round after round. A
 * result that one layer passes to the next is replaced as well, but alone, and it does not grow.
 * If a list of the new blocks replaces one of the old, all old blocks are freed at once
 * (kv_bursts.c).
 *
 * Once there are such rounds, two more kinds of blocks belong to the cache. One is equal blocks
 * that are replaced by blocks of the same size, as beam search does to reorder them. The other is
 * equal blocks that are made in one round, live over several and are freed together with the last
 * ones, such as those of cross-attention. */
#include "analysis/category/kv_chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

#define LATEST        8   /* births before a free that are examined for the replacement */
#define LEAST_BYTES   512 /* size of a block; smaller ones may be lengths or tokens */
#define LEAST_CHAINED 2   /* rounds that must replace blocks of another round */
#define NO_LIFETIME   UINT32_MAX
static int compare_deaths(const void *a, const void *b)
{
    const struct death *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static int compare_links(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->next_size != y->next_size)
        return x->next_size < y->next_size ? -1 : 1;
    return (x->next > y->next) - (x->next < y->next);
}

static bool list_deaths(struct chain_finder *finder, struct error *err)
{
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++) {
        struct death death = {chain_end(finder, i), (uint32_t)i};
        if (death.item != EVENT_NEVER && chain_size(finder, i) >= LEAST_BYTES &&
            !vec_push(finder->deaths, finder->death_count, finder->deaths_capacity, finder->budget,
                      err, death))
            return false;
    }
    if (finder->death_count > 0)
        qsort(finder->deaths, finder->death_count, sizeof(*finder->deaths), compare_deaths);
    return true;
}

/* The block that replaces a freed one: the last block made before, of those that are as large or up
 * to twice as large and do not replace another one. */
static uint32_t next_of(const struct chain_finder *finder, const struct death *death)
{
    uint64_t size = chain_size(finder, death->index);
    size_t until = births_from(finder->timeline, death->item);
    for (size_t i = until; i > death->index + 1 && until - i < LATEST; i--) {
        uint64_t next = chain_size(finder, i - 1);
        bool is_live = chain_end(finder, i - 1) > death->item;
        if (is_live && next >= size && next / 2 <= size && !(finder->marks[i - 1] & MARK_MADE))
            return (uint32_t)(i - 1);
    }
    return NO_LIFETIME;
}

static bool link_up(struct chain_finder *finder, struct error *err)
{
    if (!chains_link_bursts(finder, err))
        return false;
    for (size_t i = 0; i < finder->death_count; i++) {
        uint32_t old = finder->deaths[i].index, next = NO_LIFETIME;
        if (!(finder->marks[old] & MARK_REPLACED))
            next = next_of(finder, &finder->deaths[i]);
        if (next == NO_LIFETIME)
            continue;
        struct link link = {chain_size(finder, old), chain_size(finder, next), old, next};
        finder->marks[next] |= MARK_MADE;
        if (!vec_push(finder->links, finder->link_count, finder->links_capacity, finder->budget,
                      err, link))
            return false;
    }
    if (finder->link_count > 0)
        qsort(finder->links, finder->link_count, sizeof(*finder->links), compare_links);
    memset(finder->marks, 0, finder->timeline->lifetime_count);
    return true;
}

/* The end of the round that begins with a link. All old blocks of a round are live when the first
 * of them is replaced. */
static size_t round_end(const struct chain_finder *finder, size_t first)
{
    const struct link *links = finder->links;
    size_t end = first + 1;
    while (end < finder->link_count && links[end].size == links[first].size &&
           links[end].next_size == links[first].next_size && links[end].old < links[first].next)
        end++;
    return end;
}

static void mark_round(struct chain_finder *finder, size_t first, size_t end, uint8_t marks)
{
    for (size_t i = first; i < end; i++) {
        finder->marks[finder->links[i].old] |= marks | MARK_REPLACED;
        finder->marks[finder->links[i].next] |= marks | MARK_MADE;
    }
}

/* Finds the rounds in which blocks grow. Links are in ascending order of size, so a round comes
 * after the round that made the blocks that it replaces. */
static bool find_growing(struct chain_finder *finder, struct error *err)
{
    for (size_t first = 0, end; first < finder->link_count; first = end) {
        const struct link *link = &finder->links[first];
        bool grows = link->next_size > link->size;
        end = round_end(finder, first);
        if (end - first < LEAST_ROUND)
            continue;
        finder->chained += grows && (finder->marks[link->old] & MARK_MADE);
        mark_round(finder, first, end, grows ? MARK_CACHE : 0);
        if (grows && !vec_push(finder->rounds, finder->round_count, finder->rounds_capacity,
                               finder->budget, err, chain_birth(finder, link->next)))
            return false;
    }
    if (finder->round_count > 0)
        qsort(finder->rounds, finder->round_count, sizeof(uint32_t), compare_32);
    return true;
}

/* Decides equal blocks that are replaced between rounds, each after its own round. */
static void find_reordered(struct chain_finder *finder)
{
    for (size_t first = 0, end; first < finder->link_count; first = end) {
        const struct link *link = &finder->links[first];
        end = round_end(finder, first);
        if (end - first >= LEAST_ROUND && link->next_size == link->size &&
            chain_rounds(finder, chain_birth(finder, link->old), chain_birth(finder, link->next)) >
                0)
            mark_round(finder, first, end, MARK_CACHE);
    }
}

static void set_cache(struct chain_finder *finder)
{
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++)
        if (finder->marks[i] & MARK_CACHE)
            chain_set(finder, i, REASON_KV_CACHE_CHAIN);
}

static void finder_release(struct chain_finder *finder)
{
    vec_free(finder->marks, finder->marks_capacity, 1, finder->budget);
    vec_free(finder->deaths, finder->deaths_capacity, sizeof(*finder->deaths), finder->budget);
    vec_free(finder->links, finder->links_capacity, sizeof(*finder->links), finder->budget);
    vec_free(finder->rounds, finder->rounds_capacity, sizeof(*finder->rounds), finder->budget);
}

bool classify_kv_chains(const struct classifier *classifier, struct categories *categories,
                        struct error *err)
{
    struct chain_finder finder = {.timeline = classifier->timeline,
                                  .categories = categories,
                                  .budget = classifier->timeline->snapshot->budget};
    size_t count = finder.timeline->lifetime_count;
    bool ok = vec_reserve(finder.marks, finder.marks_capacity, count + 1, finder.budget, err);
    if (ok)
        memset(finder.marks, 0, count + 1);
    ok = ok && list_deaths(&finder, err) && link_up(&finder, err) && find_growing(&finder, err);
    if (ok && finder.chained >= LEAST_CHAINED) {
        find_reordered(&finder);
        set_cache(&finder);
        ok = chains_set_held(&finder, err);
    }
    finder_release(&finder);
    return ok;
}
