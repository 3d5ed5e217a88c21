/* Corrects what belongs to graphs that several backward passes use, in a trace without stacks.
 * Nothing is freed in the order that shows passes until the program drops such a graph.
 *
 * A batch has a few tensors. If a program makes more before what looks like a forward pass, and
 * they live into it, the pass began earlier.
 *
 * When a graph is dropped, its nodes go one after the other, from the loss back to the inputs, and
 * each frees what it has saved. So tensors of many sizes, which were made long before, are freed in
 * about the reverse order of their making, with no allocation in between. */
#include "analysis/category/classifier.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/budget.h"

#define MOST_IN_BATCH 11 /* tensors, with those that are made of them */
#define LEAST_TENSORS 8  /* of a graph that is dropped */
#define MOST          4  /* one of so many pairs of them may be in another order */
/* Sizes that differ and are not those of weights, so that copies of weights do not count. */
#define LEAST_SIZES 3
#define LEAST_MADE  64 /* tensors that are made after one of its own, and before that is freed */

struct death {
    uint32_t item, index; /* index: of the lifetime */
};

struct finder {
    struct classifier *classifier;
    struct categories *categories;
    struct death *deaths; /* of blocks that plain code seems to have made and freed */
    size_t count, capacity;
};

static bool is_batch(const struct categories *categories, size_t index)
{
    return reason_of(categories->why_lifetime[index]) == REASON_BEFORE_FORWARD;
}

/* True if the program frees a block between the step that it was made for and the next forward
 * pass. */
static bool is_freed_between(const struct classifier *classifier, size_t index)
{
    struct lifetime_runs runs = classifier->phases->of_lifetime[index];
    uint32_t next = runs.end;
    if (runs.end == NO_RUN || classifier_phase(classifier, runs.end) > PHASE_DATA ||
        runs.end < runs.birth + 2)
        return false;
    while (next < classifier->phases->count && classifier_phase(classifier, next) <= PHASE_DATA)
        next++;
    return classifier_phase(classifier, next) == PHASE_FORWARD;
}

/* True if variables hold the batch of a run, such as the neighbours of nodes in a list: most are
 * freed when the next batch is made, but not in the reverse order of their making, as a graph is.
 */
static bool are_variables(const struct classifier *classifier, const struct categories *categories,
                          size_t first, size_t end)
{
    const struct lifetime *lifetimes = classifier->timeline->lifetimes;
    size_t pairs = 0, reversed = 0, last = SIZE_MAX;
    for (size_t i = first; i < end; i++) {
        if (!is_batch(categories, i) || !is_freed_between(classifier, i))
            continue;
        pairs += last != SIZE_MAX;
        reversed +=
            last != SIZE_MAX && lifetime_end(&lifetimes[i]) < lifetime_end(&lifetimes[last]);
        last = i;
    }
    return pairs > 0 && reversed * MOST < pairs * (MOST - 1);
}

/* Corrects the allocations of one run. Those of the sizes of weights do not count, because a script
 * may copy a model. */
static void correct(const struct classifier *classifier, struct categories *categories,
                    size_t first, size_t end)
{
    const struct timeline *timeline = classifier->timeline;
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        count += is_batch(categories, i) && !classifier_has_early(classifier, size);
    }
    if (count <= MOST_IN_BATCH)
        return;
    bool has_variables = are_variables(classifier, categories, first, end);
    for (size_t i = first; i < end; i++) {
        if (!is_batch(categories, i) || (has_variables && is_freed_between(classifier, i)))
            continue;
        categories->of_lifetime[i] = CATEGORY_ACTIVATION;
        categories->why_lifetime[i] = REASON_AFTER_FORWARD;
    }
}

static int compare_deaths(const void *a, const void *b)
{
    const struct death *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

/* Notes which sizes are those of blocks that are older than the trace. */
static bool note_sizes_before(const struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        struct size_tally *tally =
            size_tallies_at(&finder->classifier->tallies, timeline->preexisting[i].size, err);
        if (!tally)
            return false;
        tally->is_from_before = true;
    }
    return true;
}

static bool list_deaths(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    for (size_t i = timeline->lifetime_count; i-- > 0;) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        struct size_tally *tally = size_tallies_at(&finder->classifier->tallies, size, err);
        if (!tally)
            return false;
        tally->oldest = (uint32_t)i;
        struct death death = {lifetime_end(&timeline->lifetimes[i]), (uint32_t)i};
        if (reason_of(finder->categories->why_lifetime[i]) == REASON_PLAIN_FREED &&
            births_from(timeline, death.item) - i > LEAST_MADE &&
            !vec_push(finder->deaths, finder->count, finder->capacity, timeline->snapshot->budget,
                      err, death))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->deaths, finder->count, sizeof(*finder->deaths), compare_deaths);
    return true;
}

/* True if no allocation lies between the frees of two blocks. */
static bool in_one_burst(const struct finder *finder, const struct death *first,
                         const struct death *second)
{
    const struct timeline *timeline = finder->classifier->timeline;
    return births_from(timeline, first->item) == births_from(timeline, second->item);
}

/* True if most blocks were made before the block that is freed before them. */
static bool are_reversed(const struct death *deaths, size_t count)
{
    size_t reversed = 0;
    for (size_t i = 1; i < count; i++)
        reversed += deaths[i].index < deaths[i - 1].index;
    return reversed >= (count - 1) - (count - 1) / MOST;
}

/* True if a block is a copy, or has the size of one: its original is older, and outlives it. */
static bool has_original(const struct finder *finder, const struct death *death)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const struct size_tally *tally =
        size_tallies_find(&finder->classifier->tallies,
                          trace_size(timeline->trace, timeline->lifetimes[death->index].alloc));
    return tally && (tally->is_from_before ||
                     (tally->oldest < death->index &&
                      lifetime_end(&timeline->lifetimes[tally->oldest]) > death->item));
}

static bool have_sizes(const struct finder *finder, const struct death *deaths, size_t count)
{
    const struct timeline *timeline = finder->classifier->timeline;
    uint64_t sizes[LEAST_SIZES];
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < LEAST_SIZES; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[deaths[i].index].alloc);
        size_t known = 0;
        while (known < distinct && sizes[known] != size)
            known++;
        if (known == distinct && !has_original(finder, &deaths[i]))
            sizes[distinct++] = size;
    }
    return distinct == LEAST_SIZES;
}

/* Decides the blocks of one burst if they are those of a graph. */
static void judge_burst(struct finder *finder, const struct death *deaths, size_t count)
{
    if (count < LEAST_TENSORS || !are_reversed(deaths, count) || !have_sizes(finder, deaths, count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (has_original(finder, &deaths[i]))
            continue;
        finder->categories->of_lifetime[deaths[i].index] = CATEGORY_ACTIVATION;
        finder->categories->why_lifetime[deaths[i].index] =
            reason_byte(REASON_FORWARD_KEPT, DOUBT_GUESS);
    }
}

static bool find_dropped(struct classifier *classifier, struct categories *categories,
                         struct error *err)
{
    struct finder finder = {.classifier = classifier, .categories = categories};
    bool ok = note_sizes_before(&finder, err) && list_deaths(&finder, err);
    for (size_t i = 0, next; ok && i < finder.count; i = next) {
        for (next = i + 1; next < finder.count; next++)
            if (!in_one_burst(&finder, &finder.deaths[next - 1], &finder.deaths[next]))
                break;
        judge_burst(&finder, &finder.deaths[i], next - i);
    }
    vec_free(finder.deaths, finder.capacity, sizeof(*finder.deaths),
             classifier->timeline->snapshot->budget);
    return ok;
}

bool classify_held_graphs(struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct lifetime_runs *runs = classifier->phases->of_lifetime;
    size_t count = classifier->timeline->lifetime_count;
    if (classifier->phases->has_stacks || classifier->first_backward_run == NO_RUN)
        return true;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && runs[end].birth == runs[first].birth)
            end++;
        correct(classifier, categories, first, end);
    }
    return find_dropped(classifier, categories, err);
}
