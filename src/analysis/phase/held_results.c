/* Results of a forward pass that variables of the program hold. A script without functions holds
 * them until the next iteration computes them anew, so that no backward pass frees them, and the
 * forward pass seems to begin after them. But the backward pass makes a gradient of the size of
 * each, which it does not for a batch. A result of any size may be held until the end of the next
 * forward pass, which makes another: a batch is replaced before that pass. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define FACTOR 32 /* a result is at most 32 times as large as the batch, or as small */

/* Sets the sizes of the blocks that a backward pass makes and frees, in ascending order. */
static bool list_sizes(const struct pattern *pattern, const struct passes *passes, uint64_t *sizes,
                       size_t *count)
{
    const struct timeline *timeline = pattern->timeline;
    *count = 0;
    for (size_t i = births_from(timeline, passes->backward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->end; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (lifetime_end(&timeline->lifetimes[i]) < passes->end && size >= LEAST_WEIGHT &&
            !(pattern->flags[i] & (PATTERN_WEIGHT | PATTERN_LEAF)))
            sizes[(*count)++] = size;
    }
    if (*count > 0)
        qsort(sizes, *count, sizeof(*sizes), compare_64);
    return *count > 0;
}

/* True if a block from before a pass is freed in the next forward pass, or right after it. */
static bool is_held_over_forward(const struct pattern *pattern, const struct passes *passes,
                                 uint32_t end)
{
    bool is_last = passes + 1 == pattern->passes + pattern->pass_count;
    return !is_last && end > passes[1].forward && end <= passes[1].backward;
}

/* The first result that is made in the items [from, passes->forward) and held; passes->forward if
 * there is none. A batch comes before, and nothing as large that may be one comes after. */
static uint32_t first_held(const struct pattern *pattern, const struct passes *passes,
                           const uint64_t *sizes, size_t count, uint32_t from)
{
    const struct timeline *timeline = pattern->timeline;
    uint64_t batch = 0, result = 0;
    uint32_t first = passes->forward;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->forward; i++) {
        uint32_t item = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        uint64_t size = trace_size(timeline->trace, item);
        if (end <= passes->end || (pattern->flags[i] & PATTERN_WEIGHT))
            continue;
        bool may_be_batch = !bsearch(&size, sizes, count, sizeof(*sizes), compare_64);
        if (may_be_batch && size >= result) {
            batch = size > batch ? size : batch;
            result = 0;
        } else if (!may_be_batch && result == 0 && batch > 0 && size >= batch / FACTOR &&
                   (size / FACTOR <= batch || is_held_over_forward(pattern, passes, end))) {
            result = size;
            first = item;
        }
    }
    return result > 0 ? first : passes->forward;
}

bool passes_begin_at_held(struct pattern *pattern, struct error *err)
{
    uint64_t *sizes = NULL;
    size_t capacity = 0, count;
    if (!vec_reserve(sizes, capacity, pattern->timeline->lifetime_count + 1, pattern->budget, err))
        return false;
    for (size_t i = 1; i < pattern->pass_count; i++) {
        struct passes *passes = &pattern->passes[i];
        uint32_t from = passes[-1].updated;
        if (passes->has_root && from < passes->forward &&
            list_sizes(pattern, passes, sizes, &count))
            passes->forward = first_held(pattern, passes, sizes, count, from);
    }
    vec_free(sizes, capacity, sizeof(*sizes), pattern->budget);
    return true;
}
