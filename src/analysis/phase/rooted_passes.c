/* Passes of a program that saves too little for humps: a few results, which variables hold, or what
 * a function of its own recomputes. The root gradient (root_gradients.c) still shows them: it lives
 * exactly as long as backward() runs, and the gradients of the weights are made meanwhile and
 * outlive it. Other scalars may enclose gradients as well, such as the loss itself, but live
 * longer. */
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define LEAST_KINDS  3  /* different sizes of gradients */
#define KINDS_PART   4  /* these are at least 1/4 of the sizes of weights */
#define LEAST_ROOTS  2  /* passes with the same gradients */
#define MOST_ENTRIES 16 /* births that are looked at, as a multiple of all */

/* A scalar that may be a root, and the bytes of the gradients that it encloses. */
struct enclosure {
    const struct lifetime *scalar;
    double bytes;
};

struct enclosures {
    struct enclosure *items;
    size_t count, capacity;
    size_t entries; /* births that were looked at */
};

/* Enclosures of the same bytes: items [first, end). */
struct alike {
    size_t first, end;
    double bytes, length; /* length: the mean, in items */
};

static size_t count_kinds(const struct pattern *pattern)
{
    size_t kinds = 0;
    for (size_t i = 0; i < pattern->stay_count; i++)
        kinds += i == 0 || pattern->stays[i] != pattern->stays[i - 1];
    return kinds;
}

/* The index in `stays` of the size of a birth, if it is a gradient that outlives `end`; otherwise
 * SIZE_MAX. */
static size_t gradient_at(const struct pattern *pattern, size_t birth, uint32_t end)
{
    const struct lifetime *life = &pattern->timeline->lifetimes[birth];
    uint64_t size = trace_size(pattern->timeline->trace, life->alloc);
    if (!(pattern->flags[birth] & PATTERN_WEIGHT) || size < LEAST_WEIGHT ||
        lifetime_end(life) <= end)
        return SIZE_MAX;
    return bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size);
}

/* The bytes of the gradients that a scalar encloses; 0 if they have too few different sizes. No
 * mark is set before or after. */
static double enclosed(struct pattern *pattern, struct enclosures *found,
                       const struct lifetime *scalar, size_t least)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t end = lifetime_end(scalar);
    size_t first = births_from(timeline, scalar->alloc + 1), last = births_from(timeline, end);
    double bytes = 0;
    size_t kinds = 0;
    for (size_t i = first; i < last; i++) {
        size_t at = gradient_at(pattern, i, end);
        if (at == SIZE_MAX)
            continue;
        kinds += !pattern->marks[at];
        pattern->marks[at] = 1;
        bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    }
    for (size_t i = first; bytes > 0 && i < last; i++) {
        size_t at = gradient_at(pattern, i, end);
        if (at != SIZE_MAX)
            pattern->marks[at] = 0;
    }
    found->entries += last - first;
    return kinds >= least ? bytes : 0;
}

static bool find_enclosures(struct pattern *pattern, struct enclosures *found, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    size_t kinds = count_kinds(pattern), most = timeline->lifetime_count * MOST_ENTRIES;
    size_t least = kinds / KINDS_PART > LEAST_KINDS ? kinds / KINDS_PART : LEAST_KINDS;
    memset(pattern->marks, 0, pattern->stay_count * sizeof(*pattern->marks));
    for (size_t i = 0; i < timeline->lifetime_count && found->entries < most; i++) {
        const struct lifetime *scalar = &timeline->lifetimes[i];
        if (lifetime_end(scalar) == EVENT_NEVER ||
            trace_size(timeline->trace, scalar->alloc) > MOST_SCALAR)
            continue;
        struct enclosure enclosure = {scalar, enclosed(pattern, found, scalar, least)};
        if (enclosure.bytes > 0 &&
            !vec_push(found->items, found->count, found->capacity, pattern->budget, err, enclosure))
            return false;
    }
    return true;
}

static int compare_bytes(const void *a, const void *b)
{
    const struct enclosure *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->scalar > y->scalar) - (x->scalar < y->scalar);
}

static uint32_t length_of(const struct lifetime *scalar)
{
    return lifetime_end(scalar) - scalar->alloc;
}

/* The enclosures from `first` on that have the same bytes. Of two that overlap, the inner one
 * stays. */
static struct alike alike_from(struct enclosures *found, size_t first, size_t *next)
{
    struct enclosure *items = found->items;
    struct alike alike = {.first = first, .end = first, .bytes = items[first].bytes};
    for (*next = first; *next < found->count && items[*next].bytes == alike.bytes; ++*next) {
        struct enclosure item = items[*next];
        struct enclosure *last = alike.end > first ? &items[alike.end - 1] : NULL;
        if (!last || item.scalar->alloc >= lifetime_end(last->scalar))
            items[alike.end++] = item;
        else if (length_of(item.scalar) < length_of(last->scalar))
            *last = item;
    }
    for (size_t i = first; i < alike.end; i++)
        alike.length += (double)length_of(items[i].scalar) / (double)(alike.end - first);
    return alike;
}

/* The shortest enclosures of those that repeat and have at least half of the most bytes. */
static struct alike choose(struct enclosures *found)
{
    struct alike chosen = {0};
    size_t next;
    qsort(found->items, found->count, sizeof(*found->items), compare_bytes);
    for (size_t first = 0; first < found->count; first = next) {
        struct alike alike = alike_from(found, first, &next);
        if (alike.end - alike.first >= LEAST_ROOTS &&
            (alike.bytes > 2 * chosen.bytes || alike.length < chosen.length))
            chosen = alike;
    }
    return chosen;
}

static bool add_enclosures(struct pattern *pattern, const struct enclosures *found,
                           struct alike alike, struct error *err)
{
    uint32_t from = 0;
    for (size_t i = alike.first; i < alike.end; i++) {
        const struct lifetime *root = found->items[i].scalar;
        uint32_t end = lifetime_end(root) + 1;
        struct passes passes = {.forward = passes_first_saved(pattern, from, root, root->alloc),
                                .backward = root->alloc,
                                .end = end,
                                .updated = end,
                                .has_root = true};
        from = passes.updated;
        if (!pattern_add_passes(pattern, passes, err))
            return false;
    }
    return true;
}

bool passes_from_roots(struct pattern *pattern, struct error *err)
{
    struct enclosures found = {0};
    if (pattern->pass_count > 0 || pattern->steps->count > 0)
        return true;
    bool ok = find_enclosures(pattern, &found, err);
    if (ok && found.count > 0)
        ok = add_enclosures(pattern, &found, choose(&found), err);
    vec_free(found.items, found.capacity, sizeof(*found.items), pattern->budget);
    return ok;
}
