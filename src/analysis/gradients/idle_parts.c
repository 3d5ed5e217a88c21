#include "analysis/gradients/idle_parts.h"

#include "analysis/gradients/idle_gradients.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"

#define TINY 512 /* bytes; smaller tensors, such as losses, carry no gradient of a model */

struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct categories *categories;
    const uint8_t *is_idle;
    uint32_t stays; /* all idle gradients are live at this item */
    struct idle_parts *parts;
};

static const struct lifetime *lifetime_at(const struct finder *finder, size_t index)
{
    return &finder->timeline->lifetimes[index];
}

static uint64_t size_of(const struct finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, lifetime_at(finder, index)->alloc);
}

/* The first item at which an idle gradient is freed. */
static uint32_t find_end(const struct timeline *timeline, const uint8_t *is_idle)
{
    uint32_t least = EVENT_NEVER;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        least = is_idle[i] && end < least ? end : least;
    }
    return least;
}

/* Sets [begin, end) to the backward pass that makes the first idle gradient; false if the trace
 * does not have it. */
static bool find_pass(const struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    const struct phases *phases = finder->phases;
    size_t first = 0;
    while (first < timeline->lifetime_count && !finder->is_idle[first])
        first++;
    if (first == timeline->lifetime_count)
        return false;
    uint32_t from = phases_run_of(phases, lifetime_at(finder, first)->alloc), to = from;
    if (!phases_same_backward(phases, from, from))
        return false;
    while (from > 0 && phases_same_backward(phases, from - 1, from))
        from--;
    while (to + 1 < phases->count && phases_same_backward(phases, to, to + 1))
        to++;
    finder->parts->begin = phases->runs[from].first;
    finder->parts->end = phases_run_end(phases, to, timeline->trace->count);
    return true;
}

/* True if the backward pass leaves a gradient that is not idle. Very small ones, such as that of a
 * bias, have no flag, and show by their end what they are. */
static bool is_trained(const struct finder *finder, size_t index)
{
    uint32_t end = lifetime_end(lifetime_at(finder, index));
    bool may_be_idle = size_of(finder, index) < IDLE_LEAST_SIZE && end >= finder->stays;
    return finder->categories->of_lifetime[index] == CATEGORY_GRADIENT && !finder->is_idle[index] &&
           !may_be_idle && end >= finder->parts->end;
}

/* The item of the first allocation after an item. */
static uint32_t allocation_after(const struct finder *finder, uint32_t item)
{
    const struct timeline *timeline = finder->timeline;
    size_t next = births_from(timeline, item + 1);
    return next < timeline->lifetime_count ? lifetime_at(finder, next)->alloc : EVENT_NEVER;
}

/* The last item that uses what was made since the idle gradient `first`, up to the idle gradient
 * `last`; 0 if all of it is freed before anything else is made. */
static uint32_t last_use(const struct finder *finder, size_t first, size_t last)
{
    uint32_t next = allocation_after(finder, lifetime_at(finder, last)->alloc), used = 0;
    for (size_t i = first; i < last; i++) {
        uint32_t end = lifetime_end(lifetime_at(finder, i));
        if (!finder->is_idle[i] && size_of(finder, i) > TINY && end > next && end > used)
            used = end;
    }
    return used;
}

/* True if something that was made from item `from` on, before the idle gradient `first`, outlives
 * item `end`: such as the gradient that a loss has for another model. */
static bool any_waits(const struct finder *finder, uint32_t from, size_t first, uint32_t end)
{
    for (size_t i = births_from(finder->timeline, from); i < first; i++)
        if (size_of(finder, i) > TINY && lifetime_end(lifetime_at(finder, i)) > end)
            return true;
    return false;
}

/* True if the node that makes the idle gradient `last` computes no gradient of its input, which it
 * could add in place to what waits: nothing is there but the gradient of its result. Another node
 * made that, for a node has ended since the idle gradient `first` was made. */
static bool ends_alone(const struct finder *finder, uint32_t from, size_t first, size_t last,
                       uint32_t end)
{
    uint32_t begun = lifetime_at(finder, first)->alloc, made = lifetime_at(finder, last)->alloc;
    size_t there = 0;
    bool any_ended = false;
    for (size_t i = births_from(finder->timeline, from); i < last; i++) {
        uint32_t freed = lifetime_end(lifetime_at(finder, i));
        if (finder->is_idle[i] || size_of(finder, i) <= TINY || freed < begun || freed > end)
            continue;
        there += freed > made;
        any_ended = any_ended || (freed < made && i < first);
    }
    return there == 1 && any_ended;
}

/* True if the gradient of another model may be computed from something that was made from item
 * `from` on, up to the idle gradient `last`. The last nodes of the part may also add to idle
 * gradients, which they find there: what they make is then freed before anything else is made. */
static bool goes_on(const struct finder *finder, uint32_t from, size_t first, size_t last)
{
    uint32_t used = last_use(finder, first, last);
    if (used >= finder->parts->end)
        return true;
    uint32_t made = lifetime_at(finder, last)->alloc;
    uint32_t next = allocation_after(finder, used > made ? used : made);
    for (size_t i = last + 1;
         i < finder->timeline->lifetime_count && lifetime_at(finder, i)->alloc < used; i++)
        if (is_trained(finder, i) ||
            (size_of(finder, i) > TINY && lifetime_end(lifetime_at(finder, i)) > next))
            return true;
    return any_waits(finder, from, first, next) && !ends_alone(finder, from, first, last, next);
}

/* Ends the part whose idle gradients are `first` to `last`, before a trained one or at the end of
 * the backward pass. Nothing trained was made from item `since` on. What is freed before the first
 * idle gradient may belong to the node of a trained one, or to the loss. */
static bool add_part(const struct finder *finder, uint32_t since, size_t first, size_t last,
                     bool is_end, struct error *err)
{
    if (first > last || (!is_end && goes_on(finder, since, first, last)))
        return true;
    uint32_t to = is_end ? finder->parts->end - 1 : lifetime_at(finder, last)->alloc;
    struct idle_parts *parts = finder->parts;
    return vec_push(parts->items, parts->count, parts->capacity, parts->budget, err,
                    (struct idle_part){lifetime_at(finder, first)->alloc, to, EVENT_NEVER});
}

static bool find_parts(const struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    uint32_t since = finder->parts->begin;
    size_t first = SIZE_MAX, last = 0;
    for (size_t i = births_from(timeline, finder->parts->begin);
         i < timeline->lifetime_count && lifetime_at(finder, i)->alloc < finder->parts->end; i++) {
        if (finder->is_idle[i]) {
            first = first == SIZE_MAX ? i : first;
            last = i;
        } else if (is_trained(finder, i)) {
            if (!add_part(finder, since, first, last, false, err))
                return false;
            since = lifetime_at(finder, i)->alloc + 1;
            first = SIZE_MAX;
        }
    }
    return add_part(finder, since, first, last, true, err);
}

bool idle_parts_find(struct idle_parts *parts, const struct timeline *timeline,
                     const struct phases *phases, const struct categories *categories,
                     const uint8_t *is_idle, struct error *err)
{
    struct idle_parts made = {.budget = timeline->snapshot->budget};
    const struct finder finder = {.timeline = timeline,
                                  .phases = phases,
                                  .categories = categories,
                                  .is_idle = is_idle,
                                  .stays = find_end(timeline, is_idle),
                                  .parts = &made};
    if (find_pass(&finder) && !find_parts(&finder, err)) {
        idle_parts_release(&made);
        return false;
    }
    *parts = made;
    return true;
}

void idle_parts_release(struct idle_parts *parts)
{
    vec_free(parts->items, parts->capacity, sizeof(*parts->items), parts->budget);
    *parts = (struct idle_parts){0};
}

struct idle_part *idle_parts_at(const struct idle_parts *parts, uint32_t item)
{
    struct idle_part *items = parts->items;
    if (parts->count == 0)
        return NULL;
    size_t at = bisect_until(&items->from, sizeof(*items), parts->count, item);
    return at > 0 && item <= items[at - 1].to ? &items[at - 1] : NULL;
}
