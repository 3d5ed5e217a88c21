/* Corrects turns that are too early. A forward pass that collects a list, such as one of encodings,
 * and drops the list after joining it seems to turn there, if it saves less after that than the
 * list had. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define LEAST_LATER 8 /* blocks saved after a turn that is too early */
#define MOST_EARLY  4 /* blocks saved before it, as a multiple of those after it */

/* The item that makes the first gradient: a block that has the size of a weight and outlives the
 * passes. The end of the passes if there is none. */
static uint32_t first_gradient(const struct pattern *pattern, const struct passes *passes)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->end; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if ((pattern->flags[i] & PATTERN_WEIGHT) && lifetime_end(lifetime) >= passes->end &&
            trace_size(timeline->trace, lifetime->alloc) >= LEAST_WEIGHT)
            return lifetime->alloc;
    }
    return passes->end;
}

/* True if a block may be saved: it is no scalar, and is freed within the passes after an item. */
static bool is_saved_at(const struct pattern *pattern, size_t index, uint32_t item,
                        const struct passes *passes)
{
    const struct lifetime *lifetime = &pattern->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    return end > item && end < passes->end && pattern_may_be_saved(pattern, index, false) &&
           trace_size(pattern->timeline->trace, lifetime->alloc) >= LEAST_WEIGHT;
}

/* Of the blocks that are live at the first gradient and were made after the turn, the birth of the
 * middle one. `gradient` if there are only a few, as in a backward pass. */
static uint32_t middle_of_later(const struct pattern *pattern, const struct passes *passes,
                                uint32_t gradient)
{
    const struct timeline *timeline = pattern->timeline;
    size_t earlier = 0, later = 0, seen = 0;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < gradient; i++) {
        bool is_saved = is_saved_at(pattern, i, gradient, passes);
        earlier += is_saved && timeline->lifetimes[i].alloc < passes->backward;
        later += is_saved && timeline->lifetimes[i].alloc >= passes->backward;
    }
    if (later < LEAST_LATER || later * MOST_EARLY < earlier)
        return gradient;
    size_t i = births_from(timeline, passes->backward);
    for (; seen * 2 < later; i++)
        seen += is_saved_at(pattern, i, gradient, passes);
    return timeline->lifetimes[i - 1].alloc;
}

/* The turn between two items: where most blocks are live. */
static uint32_t turn_between(struct pattern *pattern, const struct passes *passes, uint32_t from,
                             uint32_t to)
{
    const struct timeline *timeline = pattern->timeline;
    uint32_t turn = from;
    int64_t now = 0, top = 0;
    for (uint32_t item = passes->forward; item < passes->end; item++)
        pattern->change[item] = 0;
    for (size_t i = births_from(timeline, passes->forward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < to; i++) {
        if (!is_saved_at(pattern, i, 0, passes))
            continue;
        pattern->change[timeline->lifetimes[i].alloc]++;
        pattern->change[lifetime_end(&timeline->lifetimes[i])]--;
    }
    for (uint32_t item = passes->forward; item < to; item++) {
        now += pattern->change[item];
        if (item < from || now <= top)
            continue;
        top = now;
        turn = item + 1;
    }
    return turn;
}

void passes_correct_turns(struct pattern *pattern)
{
    for (size_t i = 0; i < pattern->pass_count; i++) {
        struct passes *passes = &pattern->passes[i];
        uint32_t gradient = first_gradient(pattern, passes);
        if (gradient < passes->backward || gradient >= passes->end)
            continue;
        uint32_t middle = middle_of_later(pattern, passes, gradient);
        if (middle < gradient)
            passes->backward = turn_between(pattern, passes, middle, gradient);
    }
}
