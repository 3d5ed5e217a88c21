/* Corrects what was taken for batches in a trace without stacks. A batch has a few tensors. If a
 * program makes more before what looks like a forward pass, and they live into it, the pass began
 * earlier: a graph that several backward passes use is not freed in the order that shows this. */
#include "analysis/category/classifier.h"

#define MOST_IN_BATCH 11 /* tensors, with those that are made of them */

static bool is_batch(const struct categories *categories, size_t index)
{
    return reason_of(categories->why_lifetime[index]) == REASON_BEFORE_FORWARD;
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
    for (size_t i = first; count > MOST_IN_BATCH && i < end; i++) {
        if (!is_batch(categories, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_ACTIVATION;
        categories->why_lifetime[i] = REASON_AFTER_FORWARD;
    }
}

void classify_held_graphs(const struct classifier *classifier, struct categories *categories)
{
    const struct lifetime_runs *runs = classifier->phases->of_lifetime;
    size_t count = classifier->timeline->lifetime_count;
    if (classifier->phases->has_stacks || classifier->first_backward_run == NO_RUN)
        return;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && runs[end].birth == runs[first].birth)
            end++;
        correct(classifier, categories, first, end);
    }
}
