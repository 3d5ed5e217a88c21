#include "analysis/chain/rests.h"

#include <stdlib.h>

#include "analysis/phase/births.h"

#define MOST_READ 100000000 /* lifetimes that may be compared with rests; about 0.1 seconds */

/* The item at which the backward of element i begins. */
static uint32_t backward_begin(const struct forward_chain *chain, size_t i)
{
    return i + 1 < chain->count ? chain->elements[i + 1].backward_end : chain->backward;
}

static uint64_t size_of(const struct timeline *timeline, size_t lifetime)
{
    return trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
}

/* True if a lifetime may be a result in the forward pass, and is freed before the backward pass. */
static bool is_freed(const struct chain_measure *measure, const struct forward_chain *chain,
                     size_t lifetime)
{
    switch ((enum category)measure->categories->of_lifetime[lifetime]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return lifetime_end(&measure->timeline->lifetimes[lifetime]) < chain->backward;
    default:
        return false;
    }
}

/* How `rest` enters or leaves the element is given; the others are of the lifetime. */
static bool add_rest(struct forward_chain *chain, const struct timeline *timeline, size_t lifetime,
                     struct chain_rest rest, struct error *err)
{
    return vec_push(chain->rests, chain->rest_count, chain->rest_capacity, chain->budget, err,
                    (struct chain_rest){.item = timeline->lifetimes[lifetime].alloc,
                                        .end = lifetime_end(&timeline->lifetimes[lifetime]),
                                        .element = rest.element,
                                        .bytes = size_of(timeline, lifetime),
                                        .enters = rest.enters,
                                        .stays = rest.stays});
}

/* Adds the inputs that other code makes for an element: between the calls of the previous element
 * and its own, freed after its calls and before the next allocation. */
static bool add_entering(struct forward_chain *chain, const struct chain_measure *measure,
                         size_t element, size_t first, struct births calls, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t k = first; k < calls.first; k++)
        if (is_freed(measure, chain, k) &&
            births_from(timeline, lifetime_end(&timeline->lifetimes[k])) == calls.end &&
            !add_rest(chain, timeline, k,
                      (struct chain_rest){.element = (uint32_t)element, .enters = true}, err))
            return false;
    return true;
}

/* Adds the tensors besides the output that an element leaves to the next one. */
static bool add_left(struct forward_chain *chain, const struct chain_measure *measure,
                     size_t element, struct births calls, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t k = calls.first; element + 1 < chain->count && k < calls.end; k++)
        if (is_freed(measure, chain, k) &&
            lifetime_end(&timeline->lifetimes[k]) > chain->elements[element + 1].first_item &&
            timeline->lifetimes[k].alloc != chain->elements[element].output_item &&
            !add_rest(chain, timeline, k, (struct chain_rest){.element = (uint32_t)element}, err))
            return false;
    return true;
}

/* A gradient of that size waits when the backward of the first element is about to begin, besides
 * one of its output: later elements use a tensor of that size. */
static bool has_waiting_gradient(const struct forward_chain *chain, const struct timeline *timeline,
                                 uint64_t bytes)
{
    uint32_t item = backward_begin(chain, 0);
    size_t end = births_from(timeline, item), found = 0;
    for (size_t k = births_from(timeline, chain->backward); k < end; k++) {
        uint32_t freed = lifetime_end(&timeline->lifetimes[k]);
        found += freed > item && freed < chain->end && size_of(timeline, k) == bytes;
    }
    return found > (chain->elements[0].output_bytes == (int64_t)bytes);
}

/* Adds tensors that other code made before the first element, and that later elements get, too,
 * such as the features of edges in a graph network. */
static bool add_staying(struct forward_chain *chain, const struct chain_measure *measure,
                        struct births calls, struct error *err)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t k = measure->tree->first_inside; chain->count > 2 && k < calls.first; k++)
        if (is_freed(measure, chain, k) &&
            lifetime_end(&timeline->lifetimes[k]) > chain->elements[2].first_item &&
            has_waiting_gradient(chain, timeline, size_of(timeline, k)) &&
            !add_rest(chain, timeline, k, (struct chain_rest){.enters = true, .stays = true}, err))
            return false;
    return true;
}

/* The items of an element's module calls, or of the whole element. */
static void set_calls(struct forward_chain *chain, const struct chain_measure *measure, size_t i,
                      struct births calls)
{
    const struct timeline *timeline = measure->timeline;
    struct chain_element *element = &chain->elements[i];
    uint32_t end = i + 1 < chain->count ? chain->elements[i + 1].first_item : chain->backward;
    element->calls_first = element->first_item;
    element->calls_end = end;
    if (calls.first >= calls.end)
        return;
    element->calls_first = timeline->lifetimes[calls.first].alloc;
    if (calls.end < timeline->lifetime_count && timeline->lifetimes[calls.end].alloc < end)
        element->calls_end = timeline->lifetimes[calls.end].alloc;
}

static bool find_rests(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err)
{
    size_t before = births_from(measure->timeline, chain->first);
    for (size_t i = 0; i < chain->count; i++) {
        struct births calls = chain_births_in_calls(chain, measure, i);
        set_calls(chain, measure, i, calls);
        if (!chain_is_modules(chain, i))
            continue;
        if ((i == 0 && !add_staying(chain, measure, calls, err)) ||
            !add_entering(chain, measure, i, before, calls, err) ||
            !add_left(chain, measure, i, calls, err))
            return false;
        before = calls.end;
    }
    return true;
}

/* True if a rest is freed by the end of the next element, as in a loop that assigns the variable
 * again.
 */
static bool is_replaced(const struct forward_chain *chain, const struct chain_rest *rest)
{
    return rest->element + 2 >= chain->count ||
           rest->end <= chain->elements[rest->element + 2].first_item;
}

/* The number of gradients of a rest's size that the backward of the next element leaves for the
 * backward of the rest's own element. */
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

/* Sets `passes` of rests and passed_bytes of elements. The output, and each rest that passes,
 * accounts for one gradient of its size. */
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
        if (rest->enters) {
            if (rest->element > 0)
                element[-1].passed_bytes += (int64_t)rest->bytes;
            continue;
        }
        rest->passes = is_replaced(chain, rest) && gradients_for(chain, timeline, rest) > taken;
        element->passed_bytes += rest->passes ? (int64_t)rest->bytes : 0;
    }
}

/* Counts a gradient that waits for the backward of element i, if it may be one of its output: it is
 * made before the backward of element i+1 begins, and freed after the output of element i and
 * before the backward of element i ends. An operator may free the output and its gradient in any
 * order. */
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

/* The last element whose backward ends at or after an item. */
static size_t element_at(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->count; /* the backwards of earlier elements end later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chain->elements[middle].backward_end >= item)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* Counts the gradients that wait, by element: see note_later(). */
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
        if (over > 0) /* the previous element's output may be freed where this backward ends */
            note_later(chain, timeline, waiting, over - 1, k);
    }
}

/* Sets `branches` of elements. One waiting gradient may be that of the next element's output, if it
 * has the same size. A rest that the next element frees, and that has no gradient, is not used
 * later. */
static void set_branches(struct forward_chain *chain, const uint32_t *waiting)
{
    for (size_t i = 0; i + 1 < chain->count; i++) {
        uint32_t own = chain->elements[i].output_bytes == chain->elements[i + 1].output_bytes;
        chain->elements[i].branches = waiting[i] > own;
    }
    for (size_t k = 0; k < chain->rest_count; k++)
        chain->elements[chain->rests[k].element].branches |=
            !chain->rests[k].enters &&
            (chain->rests[k].passes || !is_replaced(chain, &chain->rests[k]));
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
