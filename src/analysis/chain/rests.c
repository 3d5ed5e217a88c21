#include "analysis/chain/rests.h"

#include <stdlib.h>

#include "analysis/phase/births.h"

#define MOST_READ 100000000 /* takes about a tenth of a second */

/* Where the backward of element i begins. */
static uint32_t backward_begin(const struct forward_chain *chain, size_t i)
{
    return i + 1 < chain->count ? chain->elements[i + 1].backward_end : chain->backward;
}

static uint64_t size_of(const struct timeline *timeline, size_t lifetime)
{
    return trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
}

/* An element made it for others, and the pass frees it before its backward. */
static bool is_rest(const struct chain_measure *measure, const struct forward_chain *chain,
                    size_t element, size_t lifetime)
{
    const struct lifetime *it = &measure->timeline->lifetimes[lifetime];
    uint32_t end = lifetime_end(it);
    switch ((enum category)measure->categories->of_lifetime[lifetime]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return end > chain->elements[element + 1].first_item && end < chain->backward &&
               it->alloc != chain->elements[element].output_item;
    default:
        return false;
    }
}

static bool find_rests(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t i = 0; i + 1 < chain->count; i++) {
        size_t end = births_from(timeline, chain->elements[i + 1].first_item);
        if (!chain_is_modules(chain, i))
            continue;
        for (size_t k = births_from(timeline, chain->elements[i].first_item); k < end; k++)
            if (is_rest(measure, chain, i, k) &&
                !vec_push(chain->rests, chain->rest_count, chain->rest_capacity, chain->budget, err,
                          (struct chain_rest){.item = timeline->lifetimes[k].alloc,
                                              .end = lifetime_end(&timeline->lifetimes[k]),
                                              .element = (uint32_t)i,
                                              .bytes = size_of(timeline, k)}))
                return false;
    }
    return true;
}

/* The element after that of a rest has freed it by its end, as a loop does that replaces it. */
static bool is_replaced(const struct forward_chain *chain, const struct chain_rest *rest)
{
    return rest->element + 2 >= chain->count ||
           rest->end <= chain->elements[rest->element + 2].first_item;
}

/* How many gradients of a rest's size the backward of the next element leaves to that of its own
 * element. */
static size_t gradients_for(const struct forward_chain *chain, const struct timeline *timeline,
                            const struct chain_rest *rest)
{
    uint32_t item = backward_begin(chain, rest->element);
    size_t end = births_from(timeline, item), found = 0;
    for (size_t k = births_from(timeline, chain->backward); k < end; k++) {
        uint32_t freed = lifetime_end(&timeline->lifetimes[k]);
        found += freed > item && freed < chain->end && size_of(timeline, k) == rest->bytes;
    }
    return found;
}

/* The output and rests that were found to pass take one gradient of their size each. */
static void find_passing(struct forward_chain *chain, const struct timeline *timeline)
{
    size_t births = births_from(timeline, chain->end) - births_from(timeline, chain->backward);
    if (chain->rest_count > MOST_READ / (births + 1))
        return;
    for (size_t k = 0; k < chain->rest_count; k++) {
        struct chain_rest *rest = &chain->rests[k];
        struct chain_element *element = &chain->elements[rest->element];
        size_t taken = element->output_bytes == (int64_t)rest->bytes;
        for (size_t j = k; j > 0 && chain->rests[j - 1].element == rest->element; j--)
            taken += chain->rests[j - 1].passes && chain->rests[j - 1].bytes == rest->bytes;
        rest->passes = is_replaced(chain, rest) && gradients_for(chain, timeline, rest) > taken;
        element->passed_bytes += rest->passes ? (int64_t)rest->bytes : 0;
    }
}

/* A gradient that is made before the backward of element i+1 begins, and freed between the output
 * of element i and the end of the backward of that, may be one of that output. An operator frees
 * both in any order. */
static void note_later(const struct forward_chain *chain, const struct timeline *timeline,
                       uint32_t *waiting, size_t i, size_t gradient)
{
    const struct chain_element *element = &chain->elements[i];
    const struct lifetime *it = &timeline->lifetimes[gradient];
    if (i + 1 >= chain->count || element->output_item == EVENT_NEVER ||
        size_of(timeline, gradient) != (uint64_t)element->output_bytes ||
        it->alloc >= backward_begin(chain, i + 1) || lifetime_end(it) > element->backward_end)
        return;
    size_t output = births_from(timeline, element->output_item);
    uint32_t freed = lifetime_end(&timeline->lifetimes[output]);
    waiting[i] += freed >= chain->backward &&
                  births_from(timeline, freed) <= births_from(timeline, lifetime_end(it));
}

/* The last element whose backward ends at an item or later. */
static size_t element_at(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->count; /* backward passes of earlier elements end later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chain->elements[middle].backward_end >= item)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* Counts gradients that wait, by element. */
static void find_waiting(const struct forward_chain *chain, const struct chain_measure *measure,
                         uint32_t *waiting)
{
    const struct timeline *timeline = measure->timeline;
    size_t end = births_from(timeline, chain->end);
    for (size_t k = births_from(timeline, chain->backward); k < end; k++) {
        uint32_t freed = lifetime_end(&timeline->lifetimes[k]);
        if (freed >= chain->end)
            continue;
        size_t over = element_at(chain, freed);
        note_later(chain, timeline, waiting, over, k);
        if (over > 0) /* its output may be freed at the end of the backward behind */
            note_later(chain, timeline, waiting, over - 1, k);
    }
}

/* The gradient of the next element's output may have the same size and wait, too. A rest that is
 * replaced and has no gradient is not used. */
static void set_branches(struct forward_chain *chain, const uint32_t *waiting)
{
    for (size_t i = 0; i + 1 < chain->count; i++) {
        uint32_t own = chain->elements[i].output_bytes == chain->elements[i + 1].output_bytes;
        chain->elements[i].branches = waiting[i] > own;
    }
    for (size_t k = 0; k < chain->rest_count; k++)
        chain->elements[chain->rests[k].element].branches |=
            chain->rests[k].passes || !is_replaced(chain, &chain->rests[k]);
}

bool chain_set_rests(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err)
{
    size_t bytes = chain->count * sizeof(uint32_t);
    if (measure->pass->unfinished || chain->count == 0)
        return true;
    if (!find_rests(chain, measure, err) || !budget_take(chain->budget, bytes, err))
        return false;
    uint32_t *waiting = calloc(1, bytes);
    if (waiting) {
        find_passing(chain, measure->timeline);
        find_waiting(chain, measure, waiting);
        set_branches(chain, waiting);
    }
    free(waiting);
    budget_give(chain->budget, bytes);
    return waiting || error_out_of_memory(err);
}
