#include "analysis/category/preexisting_ends.h"

/* True if an item comes after the first backward pass, so that memory freed there is freed for the
 * next step. */
static bool is_after_backward(const struct classifier *classifier, uint32_t item)
{
    return classifier->first_backward_run != NO_RUN &&
           phases_run_of(classifier->phases, item) > classifier->first_backward_run;
}

/* The reason for a block without a stack that is freed in what looks like a pass, if the trace
 * makes no other block like it. In a program that does not train, it may be freed after the pass,
 * as results are. */
static enum reason pass_reason(const struct classifier *classifier,
                               const struct preexisting *preexisting,
                               const struct size_tally *tally)
{
    enum phase phase = preexisting_end_phase(classifier, preexisting);
    bool is_unseen = phase == PHASE_UNKNOWN && !classifier->phases->has_stacks;
    if (tally->early > 0)
        return REASON_NONE;
    if (classifier->first_backward_run == NO_RUN) {
        uint32_t run = phases_run_of(classifier->phases, preexisting_end(preexisting));
        return run != NO_RUN && run >= classifier->first_step_run ? REASON_TWIN_ACTIVATION
                                                                  : REASON_NONE;
    }
    return phase == PHASE_FORWARD || phase == PHASE_BACKWARD || is_unseen ? REASON_TWIN_ACTIVATION
                                                                          : REASON_NONE;
}

/* The number of blocks that stay and have the size of the weights of which blocks of a size may be
 * gradients. If passes leave a gradient for each sample, that size is a part of the blocks'. */
static uint32_t kept_of(const struct classifier *classifier, uint64_t size,
                        const struct size_tally *tally)
{
    uint64_t samples = classifier->samples;
    const struct size_tally *weight = samples > 0 && size % samples == 0 && tally->early == 0
                                          ? size_tallies_find(&classifier->tallies, size / samples)
                                          : NULL;
    tally = weight && weight->early > 0 ? weight : tally;
    return tally->persistent + tally->parameters;
}

/* The reason for a block like others of its size, which are freed in a phase; REASON_NONE if there
 * are none. */
static enum reason twin_reason(const struct size_tally *tally, enum phase phase)
{
    uint8_t twin = tally->twin[phase];
    switch (twin > 0 ? (enum category)(twin - 1) : CATEGORY_UNKNOWN) {
    case CATEGORY_INPUT:
        return REASON_TWIN_INPUT;
    case CATEGORY_ACTIVATION:
        return REASON_TWIN_ACTIVATION;
    case CATEGORY_GRADIENT:
        return REASON_TWIN_GRADIENT;
    default:
        return REASON_NONE;
    }
}

/* The same for a block that ends where no other of its size does, because the trace begins in the
 * middle of a step: the others must all be batches, or all be activations. */
static enum reason cousin_reason(const struct size_tally *tally)
{
    enum reason found = REASON_NONE;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        enum reason reason = twin_reason(tally, (enum phase)phase);
        if (tally->twin[phase] == 0)
            continue;
        if ((reason != REASON_TWIN_INPUT && reason != REASON_TWIN_ACTIVATION) ||
            (found != REASON_NONE && found != reason))
            return REASON_NONE;
        found = reason;
    }
    return tally->early == 0 ? found : REASON_NONE;
}

enum reason preexisting_end_reason(const struct classifier *classifier,
                                   const struct preexisting *preexisting,
                                   const struct size_tally *tally)
{
    uint32_t kept = kept_of(classifier, preexisting->size, tally);
    bool has_gradients = tally->gradients.most > 0;
    if (preexisting->stack != STACK_NONE)
        return REASON_NONE;
    if (preexisting_ends_in_step(classifier, preexisting) &&
        tally->made_in_step >= tally->replaced && kept >= tally->gradients.most)
        return REASON_STEP_REPLACED;
    if (has_gradients && kept >= tally->gradients.most &&
        preexisting_end_phase(classifier, preexisting) != PHASE_OPTIMIZER &&
        !is_after_backward(classifier, preexisting_end(preexisting)))
        return REASON_GRADIENT_BEFORE;
    enum reason reason = twin_reason(tally, preexisting_end_phase(classifier, preexisting));
    if (reason == REASON_NONE)
        reason = pass_reason(classifier, preexisting, tally);
    return reason == REASON_NONE ? cousin_reason(tally) : reason;
}

/* Notes the sizes of which no input outlives the run that makes it, but activations do. */
static void note_activations(const struct classifier *classifier,
                             const struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        enum category category = (enum category)categories->of_lifetime[i];
        struct size_tally *tally = (struct size_tally *)size_tallies_find(
            &classifier->tallies, trace_size(timeline->trace, timeline->lifetimes[i].alloc));
        if (!tally)
            continue;
        tally->has_input = tally->has_input || category == CATEGORY_INPUT;
        tally->has_activation = tally->has_activation || category == CATEGORY_ACTIVATION;
    }
}

void classify_ends_again(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    if (timeline->preexisting_count == 0)
        return;
    note_activations(classifier, categories);
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct size_tally *tally =
            size_tallies_find(&classifier->tallies, timeline->preexisting[i].size);
        if (!tally || tally->has_input || !tally->has_activation ||
            reason_of(categories->why_preexisting[i]) != REASON_TWIN_INPUT)
            continue;
        categories->of_preexisting[i] = CATEGORY_ACTIVATION;
        categories->why_preexisting[i] = reason_byte(REASON_TWIN_ACTIVATION, DOUBT_GUESS);
    }
}
