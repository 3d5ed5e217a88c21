/* Finds passes before the optimizer steps that annotations name. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define MOST_EARLIER 64 /* passes before one step that are looked for */

/* The first item in [from, to) that makes a gradient: a block that has the size of a weight and is
 * live when the next step begins. `to` if there is none. *bytes is set to the bytes of all such
 * gradients. */
static uint32_t first_gradient(const struct pattern *pattern, uint32_t from, uint32_t to,
                               double *bytes)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t first = to;
    *bytes = 0;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < to; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        uint64_t size = trace_size(timeline->trace, item);
        bool may_be = (pattern->flags[i] & PATTERN_WEIGHT) && (pattern->flags[i] & PATTERN_CROSSES);
        if (!may_be || size < LEAST_WEIGHT)
            continue;
        first = item < first ? item : first;
        *bytes += (double)size;
    }
    return first;
}

/* The last turn of the passes. Most blocks are live before the item `turn`, at which the count is
 * `top`. But if the count falls by half and rises again before the first gradient, that fall was
 * not the backward pass: a part of the forward pass, such as the search in a codebook, made more
 * than the rest saves. */
static uint32_t last_turn(const struct pattern *pattern, uint32_t turn, uint32_t to, int64_t top)
{
    double bytes;
    uint32_t end = first_gradient(pattern, turn, to, &bytes), last = turn;
    int64_t now = top, low = top, high = 0;
    if (end == to)
        return turn;
    for (uint32_t i = turn; i < end; i++) {
        now += pattern->change[i];
        if (now < low) {
            low = now;
            high = 0;
        }
        if (low * 2 > top || now < low * 2 || now < low + LEAST_SAVED || now <= high)
            continue;
        high = now;
        last = i + 1;
    }
    return last;
}

/* Finds the turn from forward to backward in the items [from, to): where most of the blocks that
 * are made and freed in them are live, not counting scalars. False if there are none. */
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
    if (top > 0)
        passes->backward = last_turn(pattern, passes->backward, to, top);
    for (size_t i = begin; top > 0 && timeline->lifetimes[i].alloc < passes->backward; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (first == to && end >= passes->backward && end < to &&
            pattern_may_be_saved(pattern, i, any_size))
            first = timeline->lifetimes[i].alloc;
        if (i + 1 == timeline->lifetime_count)
            break;
    }
    passes->forward = first;
    passes->end = passes->updated = to;
    return top > 0 && first < passes->backward;
}

/* Finds the passes before a step. Code that makes a model and drops the parts from which it is made
 * has many live blocks too; the passes come after it. */
static bool find_passes(struct pattern *pattern, uint32_t from, uint32_t to, bool any_size,
                        struct passes *passes)
{
    bool found = find_turn(pattern, from, to, any_size, passes);
    while (found && pattern_makes_model(pattern, passes))
        found = find_turn(pattern, passes->backward, to, any_size, passes);
    return found;
}

/* The number of blocks that a forward pass saves for its backward pass. */
static size_t saved_by(const struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    size_t saved = 0;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->backward; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        saved +=
            end >= passes->backward && end < passes->end && pattern_may_be_saved(pattern, i, false);
    }
    return saved;
}

/* True if passes leave most of the gradients that are live at the step at item `to`. Later passes
 * add to them. */
static bool leaves_gradients(const struct pattern *pattern, const struct passes *passes,
                             uint32_t to)
{
    double left, all;
    first_gradient(pattern, passes->forward, passes->end, &left);
    first_gradient(pattern, passes->forward, to, &all);
    return left > 0 && left * 2 >= all;
}

/* Adds the passes in the items [from, to) before a step, the last pass first. Each saves about as
 * much as the one after it, and the first of them leaves gradients. What comes before that computes
 * without gradients. */
static bool add_before(struct pattern *pattern, uint32_t from, uint32_t to, struct error *err)
{
    struct passes later = {0}, passes = {0};
    size_t kept = pattern->pass_count + 1;
    if (!find_passes(pattern, from, to, false, &later) &&
        !find_passes(pattern, from, to, true, &later))
        return true;
    if (!pattern_add_passes(pattern, later, err))
        return false;
    for (int i = 0; i < MOST_EARLIER; i++) {
        if (!find_passes(pattern, from, later.forward, false, &passes) ||
            saved_by(pattern, &passes) * 2 < saved_by(pattern, &later))
            break;
        if (!pattern_add_passes(pattern, passes, err))
            return false;
        if (leaves_gradients(pattern, &passes, to))
            kept = pattern->pass_count;
        later = passes;
    }
    pattern->pass_count = kept;
    return true;
}

static int compare_passes(const void *a, const void *b)
{
    const struct passes *x = a, *y = b;
    return (x->forward > y->forward) - (x->forward < y->forward);
}

static void sort_passes(struct pattern *pattern)
{
    if (pattern->pass_count > 0)
        qsort(pattern->passes, pattern->pass_count, sizeof(*pattern->passes), compare_passes);
}

/* The first item that may belong to the passes of a step. Several steps may follow one another. */
static uint32_t previous_end(const struct pattern *pattern, size_t step)
{
    return step > 0 ? pattern->steps->items[step - 1].end : 0;
}

/* Adds passes before each step without a closure that has none. Passes must be in order. */
static bool add_before_steps(struct pattern *pattern, struct error *err)
{
    size_t found = pattern->pass_count, next = 0;
    for (size_t i = 0; i < pattern->steps->count; i++) {
        const struct step_mark *step = &pattern->steps->items[i];
        uint32_t from = previous_end(pattern, i), to = step->begin;
        bool has_passes = step->has_closure;
        for (; next < found && pattern->passes[next].forward < to; next++) {
            const struct passes *passes = &pattern->passes[next];
            has_passes = has_passes || (passes->forward >= from && !passes->is_probe);
            from = passes->is_probe && passes->end > from ? passes->end : from;
        }
        if (!has_passes && !add_before(pattern, from, to, err))
            return false;
    }
    return true;
}

/* Assigns all items of a step with a closure to its passes and to the updates between them. */
static void complete_closures(struct pattern *pattern)
{
    size_t next = 0;
    for (size_t i = 0; i < pattern->steps->count; i++) {
        const struct step_mark *step = &pattern->steps->items[i];
        for (; next < pattern->pass_count && pattern->passes[next].forward < step->begin; next++)
            ;
        if (!step->has_closure)
            continue;
        uint32_t first = step->begin;
        for (; next < pattern->pass_count && pattern->passes[next].forward < step->end; next++) {
            struct passes *passes = &pattern->passes[next];
            bool is_last = next + 1 == pattern->pass_count || passes[1].forward >= step->end;
            uint32_t until = is_last ? step->end : passes[1].forward;
            passes->forward = first < passes->forward ? first : passes->forward;
            passes->updated = until > passes->end ? until : passes->end;
            first = passes->updated;
        }
    }
}

bool passes_from_anchors(struct pattern *pattern, struct error *err)
{
    /* The gradients of samples show every pass. A trace may begin after the first one. */
    if (pattern->samples == 0 && !add_before_steps(pattern, err))
        return false;
    sort_passes(pattern);
    complete_closures(pattern);
    return passes_add_unfinished(pattern, err);
}
