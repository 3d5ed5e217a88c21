/* Passes whose graph is kept while the backward pass runs, and dropped as a whole after it or after
 * the update. torch.func.grad() records its own backward pass, so that another one may follow. */
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define MOST_HELD     8   /* at most 1/8 of the saved blocks may be freed earlier or later */
#define LEAST_SIZES   3   /* different sizes of gradients */
#define LEAST_COVERED 0.5 /* part of the bytes of weights, counting one weight of each size */
#define ALIKE         0.9 /* part of what others cover */

/* Blocks of the sizes of weights that may be the gradients of a pass. */
struct gradients {
    uint32_t first,
        last; /* the items that make the first and the last of the first blocks of each size */
    double covered; /* bytes, counting one block of each size */
    size_t sizes;
};

/* Sets [*first, *last] to the items in which most of pattern->saved are freed. The program may hold
 * a few of them longer. */
static void find_fall(struct pattern *pattern, uint32_t *first, uint32_t *last)
{
    struct saved *saved = pattern->saved;
    size_t count = pattern->saved_count, some = count / MOST_HELD;
    qsort(saved, count, sizeof(*saved), saved_compare_ends);
    *first = saved[some].end;
    *last = saved[count - 1 - some].end;
    qsort(saved, count, sizeof(*saved), saved_compare_births);
}

/* Finds blocks that are made in the items [from, to) and freed in [freed, until]. `marks` has a
 * byte for each of pattern->stays. */
static struct gradients find_gradients(const struct pattern *pattern, uint8_t *marks, uint32_t from,
                                       uint32_t to, uint32_t freed, uint32_t until)
{
    const struct timeline *timeline = pattern->timeline;
    struct gradients found = {.first = to, .last = from};
    memset(marks, 0, pattern->stay_count);
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < to; i++) {
        uint32_t item = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        uint64_t size = trace_size(timeline->trace, item);
        if (!(pattern->flags[i] & PATTERN_WEIGHT) || size < LEAST_WEIGHT || end < freed ||
            end > until)
            continue;
        size_t at = bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size);
        if (marks[at])
            continue;
        marks[at] = 1;
        found.sizes++;
        found.covered += (double)size;
        found.first = item < found.first ? item : found.first;
        found.last = item;
    }
    return found;
}

/* The bytes of the weights that may have gradients, counting one of each size: those of whose size
 * blocks come and go. */
static double bytes_to_cover(const struct pattern *pattern, uint8_t *marks)
{
    uint32_t items = (uint32_t)pattern->timeline->trace->count;
    return find_gradients(pattern, marks, 0, items, 0, items).covered;
}

/* Finds the passes. Either the gradients outlive the graph, or the program drops both after the
 * update, which makes blocks of the same sizes. */
static bool find_passes(struct pattern *pattern, uint8_t *marks, struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t first, last, forward = pattern->saved[0].birth;
    find_fall(pattern, &first, &last);
    if (first >= last || last == EVENT_NEVER ||
        (births_from(timeline, last) - births_from(timeline, first)) * MOST_HELD >
            pattern->saved_count)
        return false;
    uint32_t slack = 2 * (last - first);
    struct gradients live_on =
        find_gradients(pattern, marks, forward, first, last + 1, EVENT_NEVER);
    struct gradients dropped = find_gradients(pattern, marks, forward, first,
                                              first > slack ? first - slack : 0, last + slack);
    bool with_graph = dropped.covered > 0 && dropped.covered >= live_on.covered * ALIKE;
    struct gradients gradients = with_graph ? dropped : live_on;
    if (gradients.sizes < LEAST_SIZES ||
        gradients.covered < bytes_to_cover(pattern, marks) * LEAST_COVERED)
        return false;
    uint32_t end = with_graph ? gradients.last + 1 : last + 1;
    *passes = (struct passes){
        .forward = forward, .backward = gradients.first, .end = end, .updated = end};
    return gradients.first > forward;
}

bool passes_add_kept_graph(struct pattern *pattern, struct error *err)
{
    uint8_t *marks = NULL;
    size_t capacity = 0;
    struct passes passes;
    if (pattern->steps->count > 0 || pattern->stay_count == 0)
        return true;
    if (!vec_reserve(marks, capacity, pattern->stay_count, pattern->budget, err))
        return false;
    bool is_found = find_passes(pattern, marks, &passes) && !pattern_makes_model(pattern, &passes);
    bool ok = !is_found || pattern_add_passes(pattern, passes, err);
    pattern->kept_graphs += is_found;
    vec_free(marks, capacity, 1, pattern->budget);
    return ok;
}
