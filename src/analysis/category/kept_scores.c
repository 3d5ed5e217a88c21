/* The last result of an evaluation, such as its scores, in a trace without stacks. Its variable
 * keeps it while the program goes on training, until the next evaluation, so that it looks like a
 * batch made for the training. The last batch of the evaluation lives as long. But in each
 * iteration a batch comes before the pass, and a result after it: from its birth to the training,
 * the program makes few blocks, compared with those of an iteration. An iteration begins where the
 * variable's block before was made, which is freed as soon as the next one exists. */
#include <string.h>

#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"

#define LEAST_PASSES    2  /* that train, over which it lives */
#define LEAST_ITERATION 12 /* blocks of an iteration, whose pass makes most of them */
#define LATE            2  /* a result is made in the last half of its iteration */
#define MOST_ITEMS      16 /* after its birth, in which the block before is freed */

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    uint32_t *freed; /* by item: 1 + the lifetime that it frees; 0 if none */
    size_t capacity;
};

/* True if plain code makes a block that lives over several passes that train, and then plain code
 * frees it. */
static bool may_be_result(const struct finder *finder, size_t index)
{
    const struct classifier *classifier = finder->classifier;
    const struct phase_run *runs = classifier->phases->runs;
    struct lifetime_runs life = classifier->phases->of_lifetime[index];
    return reason_of(finder->categories->why_lifetime[index]) == REASON_BEFORE_FORWARD &&
           life.end != NO_RUN && classifier_phase(classifier, life.birth) <= PHASE_DATA &&
           classifier_phase(classifier, life.end) <= PHASE_DATA &&
           runs[life.end].pass >= runs[life.birth].pass + LEAST_PASSES;
}

/* The block whose variable a block takes over: it has the size, is made in the same run, and is
 * freed right after the other is made. Its own number if there is none. */
static size_t taken_over(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const struct lifetime_runs *runs = finder->classifier->phases->of_lifetime;
    uint32_t birth = timeline->lifetimes[index].alloc;
    uint64_t size = trace_size(timeline->trace, birth);
    for (uint32_t item = birth + 1; item - birth <= MOST_ITEMS && item < timeline->trace->count;
         item++) {
        size_t before = finder->freed[item];
        if (before > 0 && before - 1 < index && runs[before - 1].birth == runs[index].birth &&
            trace_size(timeline->trace, timeline->lifetimes[before - 1].alloc) == size)
            return before - 1;
    }
    return index;
}

/* True if a block is made at the end of an iteration, and no other iteration follows before the
 * program trains. */
static bool is_made_last(const struct finder *finder, size_t index)
{
    const struct classifier *classifier = finder->classifier;
    const struct phases *phases = classifier->phases;
    uint32_t next;
    size_t iteration = index - taken_over(finder, index);
    if (iteration < LEAST_ITERATION ||
        step_near(classifier, phases->of_lifetime[index].birth, 1, &next) != PHASE_FORWARD)
        return false;
    size_t later = births_from(classifier->timeline, phases->runs[next].first) - index;
    return later * LATE < iteration;
}

bool classify_kept_scores(const struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    const struct phases *phases = classifier->phases;
    struct finder finder = {.classifier = classifier, .categories = categories};
    size_t first = 0;
    if (phases->has_stacks || classifier->first_backward_run == NO_RUN)
        return true;
    while (first < phases->outliving_count && !may_be_result(&finder, phases->outliving[first]))
        first++;
    if (first == phases->outliving_count)
        return true;
    if (!vec_reserve(finder.freed, finder.capacity, timeline->trace->count, budget, err))
        return false;
    memset(finder.freed, 0, timeline->trace->count * sizeof(*finder.freed));
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER)
            finder.freed[lifetime_end(&timeline->lifetimes[i])] = (uint32_t)i + 1;
    for (size_t n = first; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        if (!may_be_result(&finder, i) || !is_made_last(&finder, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_ACTIVATION;
        categories->why_lifetime[i] = reason_byte(REASON_AFTER_FORWARD, DOUBT_INFERRED);
    }
    vec_free(finder.freed, finder.capacity, sizeof(*finder.freed), budget);
    return true;
}
