/* Sizes that leak, in a trace without stacks. If a program keeps the graphs of its passes, where a
 * pass turns is uncertain, and activations seem to outlive a backward pass as gradients do. But a
 * program frees gradients, replaces them or adds to them. So blocks that pass after pass leaves for
 * good are no gradients. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define LEAST_PASSES 2 /* beside the last one, whose gradients may stay when the trace ends */

static uint32_t last_pass(const struct phases *phases)
{
    return phases->count > 0 ? phases->runs[phases->count - 1].pass : 0;
}

/* Counts a block that a pass leaves. */
static void count_left(const struct classifier *classifier, size_t index, uint32_t last)
{
    const struct timeline *timeline = classifier->timeline;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    uint32_t pass = classifier->phases->runs[classifier->phases->of_lifetime[index].birth].pass;
    struct size_tally *tally = (struct size_tally *)size_tallies_find(
        &classifier->tallies, trace_size(timeline->trace, lifetime->alloc));
    if (!tally || tally->early == 0)
        return;
    if (!classifier_stays(classifier, lifetime_end(lifetime)))
        tally->leaves_freed = true;
    else if (pass < last && tally->leaves_last != pass + 1) {
        tally->leaves_passes++;
        tally->leaves_last = pass + 1;
    }
}

void classifier_find_leaks(const struct classifier *classifier)
{
    const struct phases *phases = classifier->phases;
    uint32_t last = last_pass(phases);
    for (size_t n = 0; n < phases->outliving_count; n++)
        if (classifier_outlives_backward(classifier, phases->outliving[n]))
            count_left(classifier, phases->outliving[n], last);
}

bool size_tally_leaks(const struct size_tally *tally)
{
    return tally->leaves_passes >= LEAST_PASSES && !tally->leaves_freed;
}
