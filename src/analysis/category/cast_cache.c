/* Autocast's copies of weights. Autocast converts the arguments of an operator to another type. It
 * keeps the copies of weights until its region ends, so that each weight is converted once; an
 * autograd graph may keep the copies for longer. C++ frames show conversions, and the end of the
 * region frees a copy that no graph keeps.
 *
 * If a graph keeps conversions, those that are half as large as a parameter and come first are
 * taken for copies of weights: an operator converts its bias and its weight before its input.
 * Without C++ frames, copies of weights are the first of several blocks that a line of Python
 * makes, provided that other copies are freed where a region ends. */
#include "analysis/category/classifier.h"

#include "analysis/phase/births.h"

#define WEIGHTS_OF_OPERATOR 2 /* a weight and its bias */

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    struct size_tallies sizes; /* sizes of parameters; `accumulated` counts the copies in a run */
    uint32_t latest;           /* the latest lifetime that is a conversion */
    uint64_t latest_copy;      /* the size of the latest copy of a weight for the same operator */
    unsigned copies;           /* number of copies of weights for the same operator */
    bool by_lines;             /* C++ frames show no conversion, but ends of regions are seen */
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static bool count_parameter(struct finder *finder, uint64_t size, struct error *err)
{
    struct size_tally *tally = size_tallies_at(&finder->sizes, size, err);
    if (!tally)
        return false;
    tally->parameters++;
    return true;
}

static bool count_parameters(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (finder->categories->of_preexisting[i] == CATEGORY_PARAMETER &&
            !count_parameter(finder, timeline->preexisting[i].size, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (finder->categories->of_lifetime[i] == CATEGORY_PARAMETER &&
            !count_parameter(finder, size_of(finder, i), err))
            return false;
    return true;
}

/* Decides whether a conversion is one of a weight, by its size and its place among the conversions
 * of its operator. */
static bool is_weight(struct finder *finder, uint32_t index, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    uint64_t size = size_of(finder, index);
    uint32_t run = phases_run_of(finder->classifier->phases, timeline->lifetimes[index].alloc);
    if (index != finder->latest + 1)
        finder->copies = 0;
    finder->latest = index;
    if (size > UINT64_MAX / 2 || !size_tallies_find(&finder->sizes, 2 * size))
        return false;
    struct size_tally *tally = size_tallies_at(&finder->sizes, 2 * size, err);
    bool is_new_run = tally->accumulated.pass != run;
    if ((!is_new_run && tally->accumulated.now >= tally->parameters) ||
        finder->copies == WEIGHTS_OF_OPERATOR ||
        (finder->copies > 0 && size <= finder->latest_copy))
        return false;
    run_count_add(&tally->accumulated, run);
    finder->copies++;
    finder->latest_copy = size;
    return true;
}

/* True for the first of the blocks that a line makes in a row, and for the second if that is a
 * copy, but not for the last one, which is the operator's result. */
static bool opens_line(const struct finder *finder, uint32_t index, const struct stack_facts *facts)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const stack_id *stacks = timeline->trace->stack;
    const struct lifetime *all = timeline->lifetimes;
    stack_id stack = stacks[all[index].alloc];
    if (!finder->by_lines || facts->context != CONTEXT_FORWARD || facts->in_operator ||
        index + 1 == timeline->lifetime_count || stacks[all[index + 1].alloc] != stack)
        return false;
    bool follows = index > 0 && stacks[all[index - 1].alloc] == stack;
    return !follows || (finder->copies > 0 && finder->latest + 1 == index);
}

static bool judge(struct finder *finder, uint32_t index, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    const stack_id *stacks = timeline->trace->stack;
    uint32_t end = lifetime_end(lifetime);
    enum reason reason = reason_of(finder->categories->why_lifetime[index]);
    const struct stack_facts *facts =
        site_stack_facts(finder->classifier->sites, stacks[lifetime->alloc], err);
    if (!facts)
        return false;
    bool is_copy =
        (facts->is_autocast || opens_line(finder, index, facts)) && is_weight(finder, index, err);
    if (finder->categories->of_lifetime[index] != CATEGORY_ACTIVATION || reason == REASON_RULE ||
        reason == REASON_FILE)
        return true;
    facts =
        end == EVENT_NEVER ? NULL : site_stack_facts(finder->classifier->sites, stacks[end], err);
    if (!facts && end != EVENT_NEVER)
        return false;
    if (facts && facts->ends_autocast)
        reason = REASON_CAST_CACHED;
    else if (is_copy)
        reason = REASON_CAST_WEIGHT;
    else
        return true;
    finder->categories->of_lifetime[index] = CATEGORY_CAST_CACHE;
    finder->categories->why_lifetime[index] = (uint8_t)reason;
    return true;
}

static bool look_for_lines(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const stack_id *stacks = timeline->trace->stack;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        const struct stack_facts *facts =
            site_stack_facts(finder->classifier->sites, stacks[timeline->lifetimes[i].alloc], err);
        if (!facts)
            return false;
        if (facts->is_autocast || facts->in_operator) {
            finder->by_lines = false;
            return true;
        }
        if (end == EVENT_NEVER || finder->by_lines)
            continue;
        facts = site_stack_facts(finder->classifier->sites, stacks[end], err);
        if (!facts)
            return false;
        finder->by_lines = facts->ends_autocast;
    }
    return true;
}

bool classify_cast_cache(const struct classifier *classifier, struct categories *categories,
                         struct error *err)
{
    struct finder finder = {
        .classifier = classifier, .categories = categories, .latest = UINT32_MAX - 1};
    struct stacks_include include;
    if (!site_stacks_include(classifier->sites, &include, err))
        return false;
    if (!classifier->phases->has_stacks || !include.autocast)
        return true;
    size_tallies_init(&finder.sizes, classifier->timeline->snapshot->budget);
    bool ok = count_parameters(&finder, err) && look_for_lines(&finder, err);
    for (size_t i = 0; ok && i < classifier->timeline->lifetime_count; i++)
        ok = judge(&finder, (uint32_t)i, err);
    size_tallies_release(&finder.sizes);
    return ok;
}
