/* Passes by the optimizer steps that annotations name. */
#include "analysis/phase/passes.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define MOST_RATIO 8 /* times the median: births per staying block of a size */

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool add_staying_size(struct pattern *pattern, uint64_t size, struct error *err)
{
    if (!vec_grow((void **)&pattern->stays, &pattern->stay_capacity, pattern->stay_count + 1,
                  sizeof(size), pattern->budget, err))
        return false;
    pattern->stays[pattern->stay_count++] = size;
    return true;
}

/* True if it is live for most of the trace and never freed. */
static bool lives_long(const struct timeline *timeline, uint32_t birth, uint32_t end)
{
    return end == EVENT_NEVER && (timeline->trace->count - birth) * 2 > timeline->trace->count;
}

static bool find_staying_sizes(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (lives_long(timeline, 0, preexisting_end(&timeline->preexisting[i])) &&
            !add_staying_size(pattern, timeline->preexisting[i].size, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lives_long(timeline, lifetime->alloc, lifetime_end(lifetime)) &&
            !add_staying_size(pattern, trace_size(timeline->trace, lifetime->alloc), err))
            return false;
    }
    if (pattern->stay_count > 0)
        qsort(pattern->stays, pattern->stay_count, sizeof(uint64_t), compare_sizes);
    return true;
}

static bool has_weight_size(const struct pattern *pattern, uint64_t size)
{
    return pattern->stay_count > 0 &&
           bsearch(&size, pattern->stays, pattern->stay_count, sizeof(size), compare_sizes);
}

struct size_count {
    uint64_t size;
    uint32_t stays, births;
    double ratio;
};

static int compare_ratios(const void *a, const void *b)
{
    const struct size_count *x = a, *y = b;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* Drops sizes that activations happen to share: far more blocks of them are born than of others,
 * for each block that stays. `counts` are in ascending order of size. */
static void drop_shared_sizes(struct pattern *pattern, struct size_count *counts, size_t count)
{
    const struct timeline *timeline = pattern->timeline;
    size_t half = 0, born = 0, kept = 0;
    double median = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        pattern->flags[i] = birth_is_leaf(timeline, i) ? PATTERN_LEAF : 0;
        if (!has_weight_size(pattern, size))
            continue;
        pattern->flags[i] |= PATTERN_WEIGHT;
        if (pattern->flags[i] & PATTERN_LEAF)
            continue;
        counts[bisect_less_64(&counts->size, sizeof(*counts), count, size)].births++;
    }
    for (size_t i = 0; i < count; i++)
        counts[i].ratio = (double)counts[i].births / counts[i].stays;
    qsort(counts, count, sizeof(*counts), compare_ratios);
    for (size_t i = 0; i < count; i++)
        born += counts[i].births > 0 ? counts[i].stays : 0;
    for (size_t i = 0; i < count && half * 2 < born; i++) {
        half += counts[i].births > 0 ? counts[i].stays : 0;
        median = counts[i].ratio;
    }
    for (size_t i = 0; i < count; i++)
        if (counts[i].ratio <= median * MOST_RATIO + 1) {
            pattern->stays[kept++] = counts[i].size;
            pattern->stay_bytes += (double)counts[i].size * counts[i].stays;
        }
    pattern->stay_count = kept;
    if (kept > 0)
        qsort(pattern->stays, kept, sizeof(uint64_t), compare_sizes);
    for (size_t i = 0; kept < count && i < timeline->lifetime_count; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if ((pattern->flags[i] & PATTERN_WEIGHT) && !has_weight_size(pattern, size))
            pattern->flags[i] &= (uint8_t)~PATTERN_WEIGHT;
    }
}

static bool find_weight_sizes(struct pattern *pattern, struct error *err)
{
    struct size_count *counts = NULL;
    size_t count = 0, capacity = 0;
    size_t births = pattern->timeline->lifetime_count;
    if (!find_staying_sizes(pattern, err) ||
        !vec_reserve(pattern->flags, pattern->flags_capacity, births + 1, pattern->budget, err) ||
        !vec_reserve(counts, capacity, pattern->stay_count + 1, pattern->budget, err))
        return false;
    for (size_t i = 0; i < pattern->stay_count; i++) {
        if (count == 0 || counts[count - 1].size != pattern->stays[i])
            counts[count++] = (struct size_count){.size = pattern->stays[i]};
        counts[count - 1].stays++;
    }
    drop_shared_sizes(pattern, counts, count);
    vec_free(counts, capacity, sizeof(*counts), pattern->budget);
    return true;
}

/* The run of an item by binary search, since there is no guide yet. */
static size_t find_run(const struct phases *phases, uint32_t item)
{
    return bisect_last(&phases->runs->first, sizeof(*phases->runs), phases->count, item);
}

/* Counts, for each run, the annotated optimizer steps that begin at or before it. */
static bool count_steps(struct pattern *pattern, struct error *err)
{
    uint32_t steps = 0;
    if (!vec_grow((void **)&pattern->steps, &pattern->step_capacity, pattern->old->count + 1,
                  sizeof(uint32_t), pattern->budget, err))
        return false;
    for (size_t run = 0; run < pattern->old->count; run++) {
        steps += pattern->old->runs[run].phase == PHASE_OPTIMIZER;
        pattern->steps[run] = steps;
    }
    return true;
}

/* Adds the flags that depend on the annotated optimizer steps. */
static void flag_crossings(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    const struct phases *old = pattern->old;
    size_t run = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(lifetime);
        while (run + 1 < old->count && old->runs[run + 1].first <= lifetime->alloc)
            run++;
        bool in_step = old->runs[run].phase == PHASE_OPTIMIZER;
        bool crosses = in_step || end == EVENT_NEVER || end < lifetime->alloc;
        if (!crosses)
            crosses = pattern->steps[run] != pattern->steps[find_run(old, end)];
        pattern->flags[i] |=
            (uint8_t)((in_step ? PATTERN_IN_STEP : 0) | (crosses ? PATTERN_CROSSES : 0));
    }
}

bool pattern_add_passes(struct pattern *pattern, struct passes passes, struct error *err)
{
    if (!vec_grow((void **)&pattern->passes, &pattern->pass_capacity, pattern->pass_count + 1,
                  sizeof(passes), pattern->budget, err))
        return false;
    pattern->passes[pattern->pass_count++] = passes;
    return true;
}

static int compare_passes(const void *a, const void *b)
{
    const struct passes *x = a, *y = b;
    return (x->forward > y->forward) - (x->forward < y->forward);
}

void pattern_sort_passes(struct pattern *pattern)
{
    if (pattern->pass_count > 0)
        qsort(pattern->passes, pattern->pass_count, sizeof(*pattern->passes), compare_passes);
}

bool pattern_init(struct pattern *pattern, const struct timeline *timeline,
                  const struct phases *old, struct error *err)
{
    *pattern = (struct pattern){.timeline = timeline, .old = old, .budget = old->budget};
    if (!find_weight_sizes(pattern, err) || !count_steps(pattern, err) ||
        !vec_reserve(pattern->change, pattern->change_capacity, timeline->trace->count + 1,
                     pattern->budget, err))
        return false;
    flag_crossings(pattern);
    return true;
}

void pattern_release(struct pattern *pattern)
{
    vec_free(pattern->stays, pattern->stay_capacity, sizeof(uint64_t), pattern->budget);
    vec_free(pattern->flags, pattern->flags_capacity, 1, pattern->budget);
    vec_free(pattern->steps, pattern->step_capacity, sizeof(uint32_t), pattern->budget);
    vec_free(pattern->change, pattern->change_capacity, sizeof(int32_t), pattern->budget);
    vec_free(pattern->saved, pattern->saved_capacity, sizeof(struct saved), pattern->budget);
    vec_free(pattern->passes, pattern->pass_capacity, sizeof(struct passes), pattern->budget);
}

/* Finds the turn from forward to backward in the items [from, to): where most of the allocations
 * that are made and freed in them are alive, scalars apart. False if there are none. */
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
        if (trace_size(timeline->trace, timeline->lifetimes[i].alloc) < LEAST_WEIGHT)
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
