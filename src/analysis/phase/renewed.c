/* Finds the sizes of weights that a program makes anew in every step, as functional training does,
 * or as copies of masters that stay. None of these blocks stays, but at any time as many blocks of
 * a size are live as there are weights. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define LEAST_SIZES 3 /* different ones, of weights whose masters stay */
#define LEAST_PART  8 /* of the bytes that stay, those masters */

/* A birth or the end of a block. */
struct turn {
    uint64_t size;
    uint32_t item;
    int32_t change;
};

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return x->change - y->change;
}

struct turns {
    struct turn *items;
    size_t count, capacity;
};

static void add_block(struct turns *turns, uint64_t size, uint32_t birth, uint32_t end)
{
    turns->items[turns->count++] = (struct turn){size, birth, 1};
    if (end != EVENT_NEVER)
        turns->items[turns->count++] = (struct turn){size, end, -1};
}

/* How many of the first `known` of pattern->stays, which are in ascending order, have the size.
 * There may be as many as allocations. */
static size_t count_staying(const struct pattern *pattern, size_t known, uint64_t size)
{
    size_t first = bisect_less_64(pattern->stays, sizeof(size), known, size);
    size_t end =
        size < UINT64_MAX ? bisect_less_64(pattern->stays, sizeof(size), known, size + 1) : known;
    return end - first;
}

/* True if weights may have the size: any, or where weights stay, half the size of some of these. */
static bool counts(const struct pattern *pattern, uint64_t size)
{
    return pattern->are_renewed || (count_staying(pattern, pattern->stay_count, size) == 0 &&
                                    count_staying(pattern, pattern->stay_count, 2 * size) > 0);
}

static void add_blocks(struct turns *turns, const struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (counts(pattern, timeline->preexisting[i].size))
            add_block(turns, timeline->preexisting[i].size, 0,
                      preexisting_end(&timeline->preexisting[i]));
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        if (counts(pattern, size))
            add_block(turns, size, lifetime->alloc, lifetime_end(lifetime));
    }
}

/* The lowest number of live blocks in the items [from, to), by the turns [first, end), which are of
 * one size. */
static int64_t least_live(const struct turns *turns, size_t first, size_t end, uint32_t from,
                          uint32_t to)
{
    int64_t now = 0;
    size_t i = first;
    for (; i < end && turns->items[i].item < from; i++)
        now += turns->items[i].change;
    int64_t least = now;
    for (; i < end && turns->items[i].item < to; i++) {
        now += turns->items[i].change;
        least = now < least ? now : least;
    }
    return least;
}

/* Adds the sizes of such weights. Only the second half of the trace counts, up to where the trace
 * only frees. */
static bool add_sizes(struct pattern *pattern, size_t known, const struct turns *turns,
                      struct error *err)
{
    uint32_t from = (uint32_t)(pattern->timeline->trace->count / 2);
    for (size_t first = 0, end; first < turns->count; first = end) {
        uint64_t size = turns->items[first].size;
        for (end = first + 1; end < turns->count && turns->items[end].size == size;)
            end++;
        int64_t least = least_live(turns, first, end, from, births_end(pattern->timeline));
        if (!pattern->are_renewed && (size_t)least > count_staying(pattern, known, 2 * size))
            continue;
        for (int64_t k = 0; k < least; k++)
            if (!pattern_add_size(pattern, size, err))
                return false;
    }
    return true;
}

/* Blocks of half the sizes of those that stay are weights if no size has more of them than stay,
 * and they are of several sizes, and of a good part of the bytes. */
static bool have_masters(const struct pattern *pattern, size_t known)
{
    double masters = 0, all = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < known; i++)
        all += (double)pattern->stays[i];
    for (size_t i = known; i < pattern->stay_count; i++) {
        masters += 2 * (double)pattern->stays[i];
        sizes += i == known || pattern->stays[i] != pattern->stays[i - 1];
    }
    return sizes >= LEAST_SIZES && masters * LEAST_PART >= all;
}

bool renewed_sizes(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    size_t most = 2 * (timeline->lifetime_count + timeline->preexisting_count);
    size_t known = pattern->stay_count;
    struct turns turns = {0};
    if (most == 0)
        return true;
    if (!vec_reserve(turns.items, turns.capacity, most, pattern->budget, err))
        return false;
    add_blocks(&turns, pattern);
    if (turns.count > 0)
        qsort(turns.items, turns.count, sizeof(*turns.items), compare_turns);
    bool ok = add_sizes(pattern, known, &turns, err);
    if (ok && known > 0 && !have_masters(pattern, known))
        pattern->stay_count = known;
    vec_free(turns.items, turns.capacity, sizeof(*turns.items), pattern->budget);
    return ok;
}
