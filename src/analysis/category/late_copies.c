/* A copy of a model that is made after the optimizer's states, in a trace without stacks: training
 * is resumed, which loads the states, and then an average of the weights begins. Both have the
 * sizes of the weights, and copies are usually made first. But a model also has buffers, such as
 * the counters of its normalizations, and so has a copy of it, but not the states. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "base/bisect.h"

#define LEAST_BUFFERS 2 /* 1/2 of the model's buffers lie in the copy */
#define MOST_OTHERS   4 /* 1/4 as many may lie among the states */

struct block {
    uint64_t size;
    uint32_t index; /* of a lifetime */
};

/* Lifetimes from `first` to `last`; empty if first > last. */
struct range {
    uint32_t first, last;
};

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    struct block *blocks; /* copies and states, by size and then in order of birth */
    size_t count, capacity;
    uint64_t *buffers; /* sizes of the model's buffers, ascending; each as often as it occurs */
    size_t buffer_count, buffer_capacity;
    struct range model;
    struct range states, copies; /* if the copies were made last */
};

static int compare_blocks(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void widen(struct range *range, uint32_t index)
{
    range->first = index < range->first ? index : range->first;
    range->last = index > range->last ? index : range->last;
}

static bool is_in(const struct range *range, size_t index)
{
    return index >= range->first && index <= range->last;
}

static enum reason reason_at(const struct finder *finder, size_t index)
{
    return reason_of(finder->categories->why_lifetime[index]);
}

static uint64_t size_at(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        enum reason reason = reason_at(finder, i);
        if (reason == REASON_FIRST_OF_SIZE || reason == REASON_GRADIENT_SIZES)
            widen(&finder->model, (uint32_t)i);
        struct block block = {size_at(finder, i), (uint32_t)i};
        if ((reason == REASON_MODEL_COPY || reason == REASON_STATE_SIZES) &&
            !vec_push(finder->blocks, finder->count, finder->capacity, timeline->snapshot->budget,
                      err, block))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->blocks, finder->count, sizeof(*finder->blocks), compare_blocks);
    return true;
}

/* Widens the ranges by the blocks of one size, if it has one copy for each weight: a buffer of the
 * model may have the same size. */
static void add_size(struct finder *finder, const struct block *blocks, size_t count)
{
    const struct size_tally *tally =
        size_tallies_find(&finder->classifier->tallies, blocks[0].size);
    if (!tally)
        return;
    size_t copies = tally->expected.copies, states = tally->expected.states;
    if (copies != tally->expected.weights || states == 0 || copies + states != count)
        return;
    for (size_t i = 0; i < count; i++)
        widen(i < states ? &finder->states : &finder->copies, blocks[i].index);
}

static bool find_buffers(struct finder *finder, struct error *err)
{
    struct budget *budget = finder->classifier->timeline->snapshot->budget;
    for (uint32_t i = finder->model.first; i < finder->model.last; i++)
        if (reason_at(finder, i) == REASON_PERSISTENT &&
            !vec_push(finder->buffers, finder->buffer_count, finder->buffer_capacity, budget, err,
                      size_at(finder, i)))
            return false;
    if (finder->buffer_count > 0)
        qsort(finder->buffers, finder->buffer_count, sizeof(*finder->buffers), compare_64);
    return true;
}

/* The number of blocks in a range that have the sizes of buffers of the model. */
static size_t buffers_in(const struct finder *finder, const struct range *range)
{
    size_t found = 0;
    for (uint32_t i = range->first; i < range->last; i++) {
        uint64_t size = size_at(finder, i);
        found += reason_at(finder, i) == REASON_PERSISTENT &&
                 bsearch(&size, finder->buffers, finder->buffer_count, sizeof(size), compare_64);
    }
    return found;
}

static bool are_last(struct finder *finder, struct error *err, bool *late)
{
    const struct range *states = &finder->states, *copies = &finder->copies;
    *late = false;
    for (size_t i = 0, next; i < finder->count; i = next) {
        for (next = i + 1;
             next < finder->count && finder->blocks[next].size == finder->blocks[i].size;)
            next++;
        add_size(finder, &finder->blocks[i], next - i);
    }
    if (copies->first > copies->last || states->last >= copies->first ||
        states->first <= finder->model.last)
        return true;
    if (!find_buffers(finder, err))
        return false;
    if (finder->buffer_count == 0)
        return true;
    size_t in_states = buffers_in(finder, states), in_copies = buffers_in(finder, copies);
    *late =
        in_copies * LEAST_BUFFERS >= finder->buffer_count && in_states * MOST_OTHERS <= in_copies;
    return true;
}

static void correct(const struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++) {
        uint32_t index = finder->blocks[i].index;
        bool is_state = is_in(&finder->states, index);
        if (!is_state && !is_in(&finder->copies, index))
            continue;
        finder->categories->of_lifetime[index] =
            is_state ? CATEGORY_OPTIMIZER_STATE : CATEGORY_PARAMETER;
        finder->categories->why_lifetime[index] = is_state ? REASON_STATE_SIZES : REASON_MODEL_COPY;
    }
}

bool classify_late_copies(const struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct range none = {UINT32_MAX, 0};
    struct budget *budget = classifier->timeline->snapshot->budget;
    struct finder finder = {.classifier = classifier,
                            .categories = categories,
                            .model = none,
                            .states = none,
                            .copies = none};
    bool late = false;
    bool ok = classifier->phases->has_stacks || classifier->roles.states == 0 ||
              (collect(&finder, err) && are_last(&finder, err, &late));
    if (ok && late)
        correct(&finder);
    vec_free(finder.blocks, finder.capacity, sizeof(*finder.blocks), budget);
    vec_free(finder.buffers, finder.buffer_capacity, sizeof(*finder.buffers), budget);
    return ok;
}
