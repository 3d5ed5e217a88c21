/* Tells programs that train from inference, whose layers may look like passes: a layer piles up a
 * few results as well, and may free them in the reverse order. What it leaves has the size of a
 * weight by chance only, as a cache of keys and values may. */
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

/* More than 1/8 of the bytes of weights, counting one weight of each size. */
#define LEAST_COVERED 8

enum mark {
    MARK_WEIGHT = 1, /* a block of the size is live when the first pass begins */
    MARK_LEFT = 2,   /* a backward pass leaves a block of the size */
};

static void mark(struct pattern *pattern, uint64_t size, enum mark mark)
{
    size_t at = bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size);
    if (at < pattern->stay_count && pattern->stays[at] == size)
        pattern->marks[at] |= (uint8_t)mark;
}

/* Gradients have sizes of weights, which are there before them. Not all that stays is: states and
 * caches are made later. */
static void mark_weights(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t first = pattern->passes[0].forward;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (preexisting_end(&timeline->preexisting[i]) > first)
            mark(pattern, timeline->preexisting[i].size, MARK_WEIGHT);
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < first; i++)
        if (lifetime_end(&timeline->lifetimes[i]) > first)
            mark(pattern, trace_size(timeline->trace, timeline->lifetimes[i].alloc), MARK_WEIGHT);
}

/* Marks what the pass leaves. */
static void mark_left(struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, passes->backward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->end; i++)
        if (lifetime_end(&timeline->lifetimes[i]) >= passes->end)
            mark(pattern, trace_size(timeline->trace, timeline->lifetimes[i].alloc), MARK_LEFT);
}

static bool has_root(const struct pattern *pattern)
{
    for (size_t i = 0; i < pattern->pass_count; i++)
        if (pattern->passes[i].has_root)
            return true;
    return false;
}

bool passes_show_training(struct pattern *pattern)
{
    double all = 0, covered = 0;
    bool is_known = pattern->steps->count > 0 || pattern->samples > 0;
    if (pattern->pass_count == 0 || is_known || has_root(pattern))
        return true;
    memset(pattern->marks, 0, pattern->stay_count);
    mark_weights(pattern);
    for (size_t i = 0; i < pattern->pass_count; i++)
        mark_left(pattern, &pattern->passes[i]);
    for (size_t i = 0; i < pattern->stay_count; i++) {
        double size = (double)pattern->stays[i];
        all += pattern->marks[i] & MARK_WEIGHT ? size : 0;
        covered += pattern->marks[i] == (MARK_WEIGHT | MARK_LEFT) ? size : 0;
    }
    return covered > all / LEAST_COVERED;
}
