/* Results that an evaluation computes in plain code, and that variables keep while the program goes
 * on training, in a trace without stacks: the scores of a whole catalogue, for example. Data that a
 * program makes for each epoch lives as long. But data is made before the training that needs it,
 * and an evaluation comes after training: the first block of its size is made after passes that
 * train, and the last one after all of them. Batches of the evaluation are made so, too. But a
 * result is computed of other results, the last of which is freed right after it. */
#include <stdlib.h>

#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"

#define LEAST_BEFORE  5   /* blocks of an evaluation before a result. A batch may be prepared */
#define MOST_SINCE    4   /* blocks from an operand to its result */
#define MOST_SCRATCH  2   /* blocks that an operator makes and frees besides its result */
#define LEAST_OPERAND 128 /* an operand is not less than 1/128 of its result; indices may be */

#define OLD UINT32_MAX /* number of a block that is older than the trace */

/* A block that outlives a step. */
struct kept {
    uint64_t size;
    uint32_t index; /* in timeline->lifetimes, or OLD */
};

static int compare(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    uint32_t first = x->index + 1, second = y->index + 1; /* OLD comes first */
    return (first > second) - (first < second);
}

static uint64_t size_of(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* True if a block lives into the forward pass of a later step, or is never freed. */
static bool is_kept(const struct classifier *classifier, size_t index)
{
    struct lifetime_runs life = classifier->phases->of_lifetime[index];
    const struct phase_run *runs = classifier->phases->runs;
    return life.end == NO_RUN || runs[life.end].pass > runs[life.birth].pass;
}

/* True for what plain code keeps, if nothing but its place, or its size, tells its category. */
static bool may_be_result(const struct classifier *classifier, const struct categories *categories,
                          size_t index)
{
    enum reason reason = reason_of(categories->why_lifetime[index]);
    uint32_t run = classifier->phases->of_lifetime[index].birth;
    return (reason == REASON_BEFORE_FORWARD || reason == REASON_NONE ||
            reason == REASON_WEIGHT_VECTOR) &&
           classifier_phase(classifier, run) <= PHASE_DATA && is_kept(classifier, index);
}

/* True if all blocks made after lifetime `index` up to an item are freed before it, and are only a
 * few: a matrix product has a workspace. */
static bool is_next(const struct timeline *timeline, size_t index, uint32_t item)
{
    for (size_t i = index + 1; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < item;
         i++)
        if (i - index > MOST_SCRATCH || lifetime_end(&timeline->lifetimes[i]) > item)
            return false;
    return true;
}

/* True if one of the blocks made right before a block is freed when it exists. */
static bool uses_up_operand(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    const struct lifetime_runs *lives = classifier->phases->of_lifetime;
    for (size_t i = index; i-- > 0 && index - i <= MOST_SINCE;) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (lives[i].birth == lives[index].birth && end != EVENT_NEVER &&
            end > timeline->lifetimes[index].alloc && is_next(timeline, index, end) &&
            size_of(classifier, i) >= size_of(classifier, index) / LEAST_OPERAND)
            return true;
    }
    return false;
}

/* True if a run of plain code makes several blocks before the first one of a size. */
static bool begins_later(const struct classifier *classifier, size_t index)
{
    uint32_t run = classifier->phases->of_lifetime[index].birth;
    size_t first = births_from(classifier->timeline, classifier->phases->runs[run].first);
    for (size_t i = first; i < first + LEAST_BEFORE; i++)
        if (i >= index || size_of(classifier, i) == size_of(classifier, index))
            return false;
    return true;
}

/* True if training precedes the first of the blocks of one size, and none follows the last. */
static bool is_after_training(const struct classifier *classifier, const struct kept *kept,
                              size_t count, uint32_t last_pass)
{
    const struct phases *phases = classifier->phases;
    if (kept[0].index == OLD || classifier_has_early(classifier, kept[0].size) ||
        classifier_has_gradient_size(classifier, kept[0].size, false))
        return false;
    return phases->runs[phases->of_lifetime[kept[0].index].birth].pass > 0 &&
           phases->of_lifetime[kept[count - 1].index].birth > last_pass;
}

static void decide(const struct classifier *classifier, struct categories *categories,
                   const struct kept *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t index = kept[i].index;
        if (!may_be_result(classifier, categories, index) || !uses_up_operand(classifier, index) ||
            !begins_later(classifier, index))
            continue;
        categories->of_lifetime[index] = CATEGORY_ACTIVATION;
        categories->why_lifetime[index] = reason_byte(REASON_AFTER_FORWARD, DOUBT_INFERRED);
    }
}

/* Collects the blocks that outlive a step; *count is 0 if none of them may be a result. */
static bool collect(const struct classifier *classifier, const struct categories *categories,
                    struct kept **kept, size_t *count, size_t *capacity, struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    struct budget *budget = timeline->snapshot->budget;
    size_t first = 0, many = phases->outliving_count, old = timeline->preexisting_count;
    while (first < many && !may_be_result(classifier, categories, phases->outliving[first]))
        first++;
    if (first == many)
        return true;
    if (!vec_reserve(*kept, *capacity, old + many, budget, err))
        return false;
    for (size_t i = 0; i < old; i++)
        (*kept)[(*count)++] = (struct kept){timeline->preexisting[i].size, OLD};
    for (size_t n = 0; n < many; n++) {
        uint32_t i = phases->outliving[n];
        if (is_kept(classifier, i))
            (*kept)[(*count)++] = (struct kept){size_of(classifier, i), i};
    }
    return true;
}

bool classify_epoch_results(const struct classifier *classifier, struct categories *categories,
                            struct error *err)
{
    const struct phases *phases = classifier->phases;
    struct kept *kept = NULL;
    size_t count = 0, capacity = 0;
    uint32_t last_pass = (uint32_t)phases->count;
    while (last_pass > 0 && classifier_phase(classifier, last_pass) != PHASE_BACKWARD)
        last_pass--;
    if (phases->has_stacks || last_pass == 0)
        return true;
    if (!collect(classifier, categories, &kept, &count, &capacity, err))
        return false;
    if (count > 0)
        qsort(kept, count, sizeof(*kept), compare);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && kept[end].size == kept[begin].size;)
            end++;
        if (is_after_training(classifier, kept + begin, end - begin, last_pass))
            decide(classifier, categories, kept + begin, end - begin);
    }
    vec_free(kept, capacity, sizeof(*kept), classifier->timeline->snapshot->budget);
    return true;
}
