/* The facts about lifetimes by which passes are found. */
#include "analysis/phase/passes.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define MOST_RATIO 8  /* births of a size per block that stays, as a multiple of the median */
#define LEAST_MADE 10 /* bytes of a model that is made, as a multiple of what existed before */

static bool find_staying_sizes(struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    if (pattern->are_renewed)
        return renewed_sizes(pattern, err);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (pattern_lives_long(timeline, 0, preexisting_end(&timeline->preexisting[i])) &&
            !pattern_add_size(pattern, timeline->preexisting[i].size, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (pattern_lives_long(timeline, lifetime->alloc, lifetime_end(lifetime)) &&
            !pattern_add_size(pattern, trace_size(timeline->trace, lifetime->alloc), err))
            return false;
    }
    if (pattern->stay_count == 0)
        return true;
    qsort(pattern->stays, pattern->stay_count, sizeof(uint64_t), compare_64);
    if (!renewed_sizes(pattern, err))
        return false;
    qsort(pattern->stays, pattern->stay_count, sizeof(uint64_t), compare_64);
    return true;
}

static bool has_weight_size(const struct pattern *pattern, uint64_t size)
{
    return pattern->stay_count > 0 &&
           bsearch(&size, pattern->stays, pattern->stay_count, sizeof(size), compare_64);
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

/* Drops sizes that activations share with weights: for each block that stays, far more blocks of
 * the size are made than of other sizes. `counts` are in ascending order of size. */
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
        pattern->flags[i] |= PATTERN_WEIGHT | PATTERN_STAYS;
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
        qsort(pattern->stays, kept, sizeof(uint64_t), compare_64);
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

/* Sets the flags that depend on annotated optimizer steps. What outlives the passes before a step
 * is live when the step begins or, with a closure, when it ends. */
static void flag_crossings(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    const struct step_mark *marks = pattern->steps->items;
    size_t count = pattern->steps->count, next = 0; /* the first mark that ends after the birth */
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(lifetime), birth = lifetime->alloc;
        while (next < count && marks[next].end <= birth)
            next++;
        bool in_step = next < count && marks[next].begin <= birth && !marks[next].has_closure;
        bool crosses = in_step || end == EVENT_NEVER || end < birth;
        if (next < count && !crosses)
            crosses = end >= (marks[next].has_closure ? marks[next].end : marks[next].begin);
        pattern->flags[i] |=
            (uint8_t)((in_step ? PATTERN_IN_STEP : 0) | (crosses ? PATTERN_CROSSES : 0));
    }
}

/* The item that frees the last of the blocks that were made before the turn and end within the
 * passes. */
static uint32_t end_of_fall(const struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t fall = passes->backward;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->backward; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        fall = end < passes->end && end > fall ? end : fall;
    }
    return fall;
}

static void sum_end_bytes(struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t last = births_end(timeline);
    double bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (preexisting_end(&timeline->preexisting[i]) >= last)
            bytes += (double)timeline->preexisting[i].size;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        pattern->end_bytes[i] = bytes;
        if (lifetime_end(&timeline->lifetimes[i]) >= last)
            bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    }
    pattern->end_bytes[timeline->lifetime_count] = bytes;
}

bool pattern_makes_model(const struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t last = births_end(timeline), fall = end_of_fall(pattern, passes);
    size_t first = births_from(timeline, passes->forward), i = first;
    for (; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < fall; i++) {
        uint32_t item = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        bool is_gradient = item >= passes->backward && end >= passes->end && end < last;
        if (is_gradient && (pattern->flags[i] & PATTERN_WEIGHT))
            return false;
    }
    double before = pattern->end_bytes[first], made = pattern->end_bytes[i] - before;
    return made > before * LEAST_MADE;
}

bool pattern_add_passes(struct pattern *pattern, struct passes passes, struct error *err)
{
    if (!vec_grow((void **)&pattern->passes, &pattern->pass_capacity, pattern->pass_count + 1,
                  sizeof(passes), pattern->budget, err))
        return false;

    pattern->passes[pattern->pass_count++] = passes;
    return true;
}

bool pattern_init(struct pattern *pattern, const struct timeline *timeline,
                  const struct phases *old, const struct step_marks *steps, bool are_renewed,
                  struct error *err)
{
    *pattern = (struct pattern){.timeline = timeline,
                                .old = old,
                                .steps = steps,
                                .are_renewed = are_renewed,
                                .budget = old->budget};
    if (!find_weight_sizes(pattern, err) ||
        !vec_reserve(pattern->marks, pattern->marks_capacity, pattern->stay_count + 1,
                     pattern->budget, err) ||
        !vec_reserve(pattern->certain, pattern->certain_capacity, timeline->trace->count + 1,
                     pattern->budget, err) ||
        !vec_reserve(pattern->change, pattern->change_capacity, timeline->trace->count + 1,
                     pattern->budget, err) ||
        !vec_reserve(pattern->end_bytes, pattern->end_capacity, timeline->lifetime_count + 1,
                     pattern->budget, err))
        return false;
    sum_end_bytes(pattern);
    flag_crossings(pattern);
    return pattern_flag_shared(pattern, err);
}

void pattern_release(struct pattern *pattern)
{
    vec_free(pattern->stays, pattern->stay_capacity, sizeof(uint64_t), pattern->budget);
    vec_free(pattern->flags, pattern->flags_capacity, 1, pattern->budget);
    vec_free(pattern->marks, pattern->marks_capacity, 1, pattern->budget);
    vec_free(pattern->certain, pattern->certain_capacity, sizeof(int32_t), pattern->budget);
    vec_free(pattern->change, pattern->change_capacity, sizeof(int32_t), pattern->budget);
    vec_free(pattern->end_bytes, pattern->end_capacity, sizeof(double), pattern->budget);
    vec_free(pattern->saved, pattern->saved_capacity, sizeof(struct saved), pattern->budget);
    vec_free(pattern->chain, pattern->chain_capacity, sizeof(struct saved), pattern->budget);
    vec_free(pattern->passes, pattern->pass_capacity, sizeof(struct passes), pattern->budget);
}
