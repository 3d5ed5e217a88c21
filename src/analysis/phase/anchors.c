/* Passes by the optimizer steps that annotations name. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

/* The turn from forward to backward among the items [from, to): where most of what is born and
 * freed in them is alive. False where nothing is. */
static bool find_turn(struct pattern *pattern, uint32_t from, uint32_t to, bool any_size,
                      struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    int32_t *change = pattern->change;
    int64_t now = 0, top = 0;
    uint32_t first = to;
    for (uint32_t i = from; i < to; i++)
        change[i] = 0;
    size_t begin = births_from(timeline, from);
    for (size_t i = begin; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < to; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end >= to || !pattern_may_be_saved(pattern, i, any_size))
            continue;
        change[timeline->lifetimes[i].alloc]++;
        change[end]--;
    }
    for (uint32_t i = from; i < to; i++) {
        now += change[i];
        if (now > top) {
            top = now;
            passes->backward = i + 1;
        }
    }
    for (size_t i = begin; top > 0 && timeline->lifetimes[i].alloc < passes->backward; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (first == to && end >= passes->backward && end < to &&
            pattern_may_be_saved(pattern, i, any_size))
            first = timeline->lifetimes[i].alloc;
        if (i + 1 == timeline->lifetime_count)
            break;
    }
    passes->forward = first;
    passes->end = to;
    return top > 0 && first < passes->backward;
}

bool passes_from_anchors(struct pattern *pattern, struct error *err)
{
    const struct phases *old = pattern->old;
    size_t items = pattern->timeline->trace->count, found = pattern->pass_count, next = 0;
    uint32_t from = 0;
    for (size_t run = 0; run < old->count; run++) {
        if (old->runs[run].phase != PHASE_OPTIMIZER)
            continue;
        uint32_t to = old->runs[run].first;
        bool has_passes = false;
        for (; next < found && pattern->passes[next].forward < to; next++)
            has_passes = has_passes || pattern->passes[next].forward >= from;
        struct passes passes;
        if (!has_passes &&
            (find_turn(pattern, from, to, false, &passes) ||
             find_turn(pattern, from, to, true, &passes)) &&
            !pattern_add_passes(pattern, passes, err))
            return false;
        from = phases_run_end(old, run, items);
    }
    pattern_sort_passes(pattern);
    return true;
}
