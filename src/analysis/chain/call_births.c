#include "analysis/chain/sizes.h"
#include "analysis/phase/births.h"

#define RESULTS_MOST 64 /* of one line, each of which is looked for in a whole element */

struct births chain_births_in_calls(const struct forward_chain *chain,
                                    const struct chain_measure *measure, size_t element)
{
    const struct timeline *timeline = measure->timeline;
    size_t first = births_from(timeline, chain->elements[element].first_item), end;
    end = element + 1 < chain->count
              ? births_from(timeline, chain->elements[element + 1].first_item)
              : births_from(timeline, measure->pass->backward);
    if (!chain_is_modules(chain, element))
        return (struct births){end, end};
    size_t from = measure->tree->first_inside;
    const struct chain_call *one = chain_first_call(chain, element);
    const struct chain_call *last = chain_last_call(chain, element);
    struct births found = {from + one->first_allocation, from + last->end_allocation};
    if (element == 0 && found.first < first && found.end > first)
        found.first = first; /* the pass begins with the first activation within the call */
    bool is_known = last->run == 0 && found.first >= first && found.end <= end;
    return is_known ? found : (struct births){first, end};
}

/* True if no operator runs between the frees of two lifetimes, as an allocation would show. */
static bool end_together(const struct timeline *timeline, size_t a, size_t b)
{
    uint32_t one = lifetime_end(&timeline->lifetimes[a]);
    uint32_t other = lifetime_end(&timeline->lifetimes[b]);
    return births_from(timeline, one) == births_from(timeline, other);
}

/* True if an operator of the next element kept a lifetime, because the backward pass frees it
 * together with what that element made. */
static bool is_kept_by_next(const struct forward_chain *chain, const struct chain_measure *measure,
                            size_t element, size_t lifetime)
{
    const struct timeline *timeline = measure->timeline;
    uint32_t end = element + 2 < chain->count ? chain->elements[element + 2].first_item
                                              : measure->pass->backward;
    size_t k = births_from(timeline, chain->elements[element + 1].first_item);
    for (; k < timeline->lifetime_count && timeline->lifetimes[k].alloc < end; k++)
        if (pass_keeps(measure->pass, timeline, measure->categories, k) &&
            end_together(timeline, lifetime, k))
            return true;
    return false;
}

uint32_t chain_result_of_calls(const struct forward_chain *chain,
                               const struct chain_measure *measure, size_t element)
{
    const struct timeline *timeline = measure->timeline;
    struct births calls = chain_births_in_calls(chain, measure, element);
    if (element + 1 >= chain->count || calls.first == calls.end)
        return EVENT_NEVER;
    uint32_t last = timeline->lifetimes[calls.end - 1].alloc, found = EVENT_NEVER;
    size_t from = calls.end - calls.first > RESULTS_MOST ? calls.end - RESULTS_MOST : calls.first;
    for (size_t k = calls.end; k-- > from;) {
        uint32_t item = timeline->lifetimes[k].alloc;
        if (timeline->trace->stack[item] != timeline->trace->stack[last])
            break;
        bool is_larger = found == EVENT_NEVER ||
                         trace_size(timeline->trace, item) >
                             trace_size(timeline->trace, timeline->lifetimes[found].alloc);
        if (is_larger && pass_keeps(measure->pass, timeline, measure->categories, k) &&
            is_kept_by_next(chain, measure, element, k))
            found = (uint32_t)k;
    }
    return found;
}
