/* States that are made in the first step, in traces without stacks. Those of hooks, such as an
 * optimizer's or averages of what passes compute, are made in the passes and look like activations.
 * Those of an optimizer that a script has written itself are made after the backward pass and look
 * like batches, if they have a wider type than the weights. They stay, and no later pass keeps
 * others of their sizes, as a leak would. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define LEAST_PASSES 3   /* backward passes */
#define LEAST_PART   0.2 /* of the bytes of the weights: fewer may be a mask, or a result */

static uint32_t pass_of(const struct classifier *classifier, size_t index)
{
    return classifier->phases->runs[classifier->phases->of_lifetime[index].birth].pass;
}

/* True if weights have half the size, in half as wide a type. */
static bool is_wide(const struct classifier *classifier, const struct size_tally *tally)
{
    const struct size_tally *half =
        tally->size % 2 == 0 ? size_tallies_find(&classifier->tallies, tally->size / 2) : NULL;
    return half && half->count > 0;
}

/* The first pass is number 0. kept_passes counts those that keep an activation of the size. What
 * has the size of a gradient is no gradient if those come and go. */
static bool is_state(const struct classifier *classifier, const struct categories *categories,
                     size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    enum reason reason = reason_of(categories->why_lifetime[index]);
    const struct size_tally *tally =
        size_tallies_find(&classifier->tallies, trace_size(timeline->trace, lifetime->alloc));
    if (!tally || !classifier_stays(classifier, lifetime_end(lifetime)) ||
        pass_of(classifier, index) != 0)
        return false;
    if (reason == REASON_BACKWARD_KEPT)
        return tally->most_live > 0;
    bool may_be_state = reason == REASON_FORWARD_KEPT || reason == REASON_AFTER_FORWARD ||
                        (reason == REASON_BEFORE_FORWARD && is_wide(classifier, tally));
    return may_be_state && tally->kept_passes == 1;
}

static uint32_t count_passes(const struct phases *phases)
{
    uint32_t passes = 0, last = NO_RUN;
    for (size_t run = 0; run < phases->count; run++) {
        if (phases->runs[run].phase != PHASE_BACKWARD || phases->runs[run].pass == last)
            continue;
        last = phases->runs[run].pass;
        passes++;
    }
    return passes;
}

void classify_first_states(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    double weights = size_tallies_weight_bytes(&classifier->tallies), bytes = 0;
    if (classifier->phases->has_stacks || weights == 0 ||
        count_passes(classifier->phases) < LEAST_PASSES)
        return;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (is_state(classifier, categories, i))
            bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    for (size_t i = 0; bytes >= weights * LEAST_PART && i < timeline->lifetime_count; i++) {
        if (!is_state(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_OPTIMIZER_STATE;
        categories->why_lifetime[i] = REASON_FIRST_PASS_STATE;
    }
}
