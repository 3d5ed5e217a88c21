/* Zeros of the sizes of weights that plain code makes before training. They are states of a custom
 * optimizer if a good part of the model has them. Others are buffers into which batches are copied,
 * or belong to a model, whose constructor makes weights as well. Both the number and the bytes
 * count: biases that begin as zeros are many but small, and a single buffer may be large. */
#include "analysis/category/classifier.h"

#define LEAST_PART 4 /* zeros have at least 1/4 of the weights' number and of their bytes */

/* The tally of a block that is made of zeros and has the size of a weight; NULL if it is not such a
 * block. */
static struct size_tally *tally_of_zeros(const struct classifier *classifier,
                                         const struct categories *categories, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    if (reason_of(categories->why_lifetime[index]) != REASON_PLAIN_ZEROS)
        return NULL;
    uint64_t size = trace_size(timeline->trace, timeline->lifetimes[index].alloc);
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return tally && tally->count > 0 ? (struct size_tally *)tally : NULL;
}

/* True for zeros of the size of a weight that a model made, in a trace without a backward pass, if
 * plain code makes them. A program may train without backward passes. */
static bool is_untrained_zeros(const struct classifier *classifier,
                               const struct categories *categories, size_t index)
{
    struct error err; /* cannot fail, because the stack was looked up for the category */
    const struct timeline *timeline = classifier->timeline;
    uint32_t item = timeline->lifetimes[index].alloc;
    const struct stack_facts *facts =
        site_stack_facts(classifier->sites, timeline->trace->stack[item], &err);
    const struct size_tally *tally =
        size_tallies_find(&classifier->tallies, trace_size(timeline->trace, item));
    return reason_of(categories->why_lifetime[index]) == REASON_INFERENCE && facts && tally &&
           facts->context == CONTEXT_OTHER && tally->made > 0 &&
           facts_make_zeros(site_table_symbols(classifier->sites), facts);
}

/* Decides such zeros: they are states if most weights have them. */
static void find_untrained(const struct classifier *classifier, struct categories *categories)
{
    const struct size_tallies *tallies = &classifier->tallies;
    size_t lifetimes = classifier->timeline->lifetime_count;
    double weights = 0, zeros = 0;
    for (size_t i = 0; i < tallies->slot_count; i++)
        weights += (double)tallies->slots[i].made * (double)tallies->slots[i].size;
    for (size_t i = 0; i < lifetimes; i++)
        if (is_untrained_zeros(classifier, categories, i))
            zeros += (double)trace_size(classifier->timeline->trace,
                                        classifier->timeline->lifetimes[i].alloc);
    if (zeros * 2 < weights)
        return;
    for (size_t i = 0; i < lifetimes; i++) {
        if (!is_untrained_zeros(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_OPTIMIZER_STATE;
        categories->why_lifetime[i] = reason_byte(REASON_PLAIN_ZEROS, DOUBT_INFERRED);
    }
}

/* True if a good part of the weights has zeros of the same size. */
static bool are_states(const struct classifier *classifier, const struct categories *categories)
{
    const struct size_tallies *tallies = &classifier->tallies;
    size_t lifetimes = classifier->timeline->lifetime_count, weights = 0, found = 0;
    double bytes = 0;
    for (size_t i = 0; i < tallies->slot_count; i++)
        weights += tallies->slots[i].count;
    for (size_t i = 0; i < lifetimes; i++) {
        struct size_tally *tally = tally_of_zeros(classifier, categories, i);
        if (!tally || tally->grouped == tally->count)
            continue;
        tally->grouped++;
        found++;
        bytes += (double)tally->size;
    }
    for (size_t i = 0; i < tallies->slot_count; i++)
        tallies->slots[i].grouped = 0;
    return found * LEAST_PART >= weights &&
           bytes * LEAST_PART >= size_tallies_weight_bytes(tallies);
}

void classify_plain_zeros(const struct classifier *classifier, struct categories *categories)
{
    if (classifier->first_backward_run == NO_RUN)
        find_untrained(classifier, categories);
    if (are_states(classifier, categories))
        return;
    for (size_t i = 0; i < classifier->timeline->lifetime_count; i++) {
        if (!tally_of_zeros(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = (uint8_t)reason_category(REASON_PREPARED);
        categories->why_lifetime[i] = reason_byte(REASON_PREPARED, DOUBT_NONE);
    }
}

void classify_earlier_zeros(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    double bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->why_preexisting[i] == REASON_PLAIN_ZEROS)
            bytes += (double)timeline->preexisting[i].size;
    if (bytes * LEAST_PART >= size_tallies_weight_bytes(&classifier->tallies))
        return;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->why_preexisting[i] == REASON_PLAIN_ZEROS)
            categories->why_preexisting[i] = REASON_MODEL_COPY;
}
