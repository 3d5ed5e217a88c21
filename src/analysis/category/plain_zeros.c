/* Zeros that plain code makes before training, of the sizes of weights: states of an optimizer of
 * one's own, if there are some for a good part of the model. Others are buffers into which batches
 * are copied, or belong to a model, whose constructor makes weights as well. Biases that begin as
 * zeros are many, but small; a single buffer may be large. */
#include "analysis/category/classifier.h"

#define LEAST_PART 4 /* of the weights, and of their bytes */

/* The tally of what is zeros, and of the size of a weight; NULL otherwise. */
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

/* True if a good part of the weights has zeros of its size. */
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
    if (are_states(classifier, categories))
        return;
    for (size_t i = 0; i < classifier->timeline->lifetime_count; i++) {
        if (!tally_of_zeros(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = (uint8_t)reason_category(REASON_PREPARED);
        categories->why_lifetime[i] = reason_byte(REASON_PREPARED, DOUBT_NONE);
    }
}
