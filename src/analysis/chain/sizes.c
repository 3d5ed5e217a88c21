#include "analysis/chain/sizes.h"

#include "analysis/chain/gradient_sizes.h"
#include "analysis/phase/births.h"

/* What an operator keeps only for its own backward is at most so many times as large as its result.
 */
#define MOST_BESIDE 16

/* The loop of which an element is one iteration, or NO_LOOP. */
static uint32_t loop_of(const struct forward_chain *chain, size_t element)
{
    const struct chain_element *it = &chain->elements[element];
    return it->end_part == it->first_part + 1 ? chain->parts[it->first_part].loop : NO_LOOP;
}

size_t chain_loop_end(const struct forward_chain *chain, size_t element)
{
    uint32_t loop = loop_of(chain, element);
    size_t end = element + 1;
    while (loop != NO_LOOP && end < chain->count && loop_of(chain, end) == loop)
        end++;
    return end;
}

static uint64_t size_of(const struct chain_measure *measure, size_t lifetime)
{
    const struct timeline *timeline = measure->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
}

static uint32_t first_lifetime(const struct chain_measure *measure, size_t element)
{
    return measure->tree->runs[measure->runs[element]].lifetime;
}

/* True if an allocation may be a result of the element: it is live when the element ends, and is
 * neither a workspace nor autocast's copy of a weight. */
static bool lives_on(const struct chain_measure *measure, const struct forward_chain *chain,
                     size_t element, size_t lifetime)
{
    uint8_t category = measure->categories->of_lifetime[lifetime];
    uint32_t next = element + 1 < chain->count ? chain->elements[element + 1].first_item
                                               : measure->pass->backward;
    return lifetime_end(&measure->timeline->lifetimes[lifetime]) >= next &&
           category != CATEGORY_WORKSPACE && category != CATEGORY_CAST_CACHE;
}

static void count_up(struct forward_chain *chain, const struct chain_measure *measure, size_t i)
{
    struct chain_element *element = &chain->elements[i];
    const struct call_run *runs = measure->tree->runs;
    uint32_t end = first_lifetime(measure, i + 1);
    for (uint32_t k = first_lifetime(measure, i); k < end; k++)
        element->allocations +=
            pass_keeps(measure->pass, measure->timeline, measure->categories, k);
    element->activation_bytes = runs[measure->runs[i + 1]].kept - runs[measure->runs[i]].kept;
    for (uint32_t run = measure->runs[i]; run < measure->runs[i + 1]; run++)
        element->checkpointed |= runs[run].checkpointed;
}

static void set_output(struct chain_element *element, const struct chain_measure *measure,
                       uint32_t lifetime, enum output_evidence evidence)
{
    element->output_bytes = (int64_t)size_of(measure, lifetime);
    element->output_item = measure->timeline->lifetimes[lifetime].alloc;
    element->output_from = evidence;
}

/* True if lifetime a ends before b, and another operator runs in between, as an allocation shows.
 */
static bool ends_before(const struct timeline *timeline, uint32_t a, uint32_t b)
{
    uint32_t end = lifetime_end(&timeline->lifetimes[a]);
    uint32_t later = lifetime_end(&timeline->lifetimes[b]);
    size_t next = end < later ? births_from(timeline, end) : timeline->lifetime_count;
    return next < timeline->lifetime_count && timeline->lifetimes[next].alloc < later;
}

/* Finds the output among the allocations of the run whose largest one is given. Some operators keep
 * more for their own backward than they return, such as the indices of maxima or the gates of a
 * recurrent cell. The backward of the layer that took the output runs first, so the output is freed
 * before what the operator kept for itself. An operator that keeps its output too, as recurrent
 * layers do, frees both at once; then the allocation of the size of the element's input is the
 * output. */
static uint32_t returned_with(const struct chain_measure *measure,
                              const struct forward_chain *chain, size_t i, uint32_t run,
                              uint32_t largest)
{
    const struct call_run *runs = measure->tree->runs;
    const struct timeline *timeline = measure->timeline;
    const struct chain_element *element = &chain->elements[i];
    uint32_t found = largest, reserve = chain_reserve_of(measure, run);
    if (lifetime_end(&timeline->lifetimes[largest]) >= measure->pass->end)
        return largest; /* the program holds it */
    for (uint32_t k = runs[run].lifetime; k < runs[run + 1].lifetime; k++)
        if (k != reserve && lives_on(measure, chain, i, k) && size_of(measure, k) > 0 &&
            size_of(measure, k) >= size_of(measure, largest) / MOST_BESIDE &&
            (ends_before(timeline, k, found) ||
             (found == largest && size_of(measure, k) == (uint64_t)element->output_bytes &&
              !ends_before(timeline, found, k))))
            found = k;
    return found;
}

/* True if the forward pass uses a tensor only in the next element. If it is live for longer and
 * freed before the backward pass, the program may collect it in a list. */
static bool is_handed_on(const struct chain_measure *measure, const struct forward_chain *chain,
                         size_t element, size_t lifetime)
{
    uint32_t end = lifetime_end(&measure->timeline->lifetimes[lifetime]);
    return element + 2 >= chain->count || end <= chain->elements[element + 2].first_item ||
           end >= measure->pass->backward;
}

/* The lifetime of the largest allocation that a run leaves, or EVENT_NEVER. With `handed_on`, only
 * those count for which is_handed_on() is true. */
static uint32_t largest_of(const struct chain_measure *measure, const struct forward_chain *chain,
                           size_t i, uint32_t run, bool handed_on)
{
    const struct call_run *runs = measure->tree->runs;
    uint32_t largest = EVENT_NEVER, reserve = chain_reserve_of(measure, run);
    for (uint32_t k = runs[run].lifetime; k < runs[run + 1].lifetime; k++)
        if (k != reserve && lives_on(measure, chain, i, k) && size_of(measure, k) > 0 &&
            (!handed_on || is_handed_on(measure, chain, i, k)) &&
            (largest == EVENT_NEVER || size_of(measure, k) >= size_of(measure, largest)))
            largest = k;
    return largest;
}

/* What the last run leaves may only be for its own backward, such as the statistics of a
 * normalization after which a sum is computed in place. Then another run of the element made the
 * output: something much larger that the backward pass frees before. Returns that lifetime, or
 * EVENT_NEVER. */
static uint32_t freed_before(const struct chain_measure *measure, const struct forward_chain *chain,
                             size_t i, uint32_t last)
{
    const struct timeline *timeline = measure->timeline;
    uint32_t found = last, end = first_lifetime(measure, i + 1);
    for (uint32_t k = first_lifetime(measure, i); k < end; k++)
        if (lives_on(measure, chain, i, k) &&
            pass_keeps(measure->pass, timeline, measure->categories, k) &&
            size_of(measure, k) / MOST_BESIDE > size_of(measure, last) &&
            ends_before(timeline, k, found))
            found = k;
    return found == last ? EVENT_NEVER : found;
}

/* The lifetime of what a run of the element returns, or EVENT_NEVER. */
static uint32_t returned_by(const struct forward_chain *chain, const struct chain_measure *measure,
                            size_t i, uint32_t run)
{
    uint32_t largest = largest_of(measure, chain, i, run, false);
    if (largest == EVENT_NEVER)
        return EVENT_NEVER;
    uint32_t handed = largest_of(measure, chain, i, run, true);
    if (handed != EVENT_NEVER &&
        size_of(measure, handed) >= size_of(measure, largest) / MOST_BESIDE)
        largest = handed;
    uint32_t output = returned_with(measure, chain, i, run, largest);
    uint32_t before = freed_before(measure, chain, i, output);
    return before == EVENT_NEVER ? output : before;
}

/* True if other code of an element makes a lifetime after the element's module calls. */
static bool is_made_after_calls(const struct forward_chain *chain,
                                const struct chain_measure *measure, size_t i, uint32_t lifetime)
{
    return chain_is_modules(chain, i) && lifetime >= chain_births_in_calls(chain, measure, i).end;
}

/* Takes the largest allocation that the last run leaves, of the runs that leave any. It need not be
 * the last allocation, since an operator may allocate a mask after the result. A tensor without a
 * gradient, such as a copy that a program collects, gives way to what earlier runs leave. Between
 * module calls, a tensor that is not handed on, such as a sum over all layers, gives way if that
 * has the same size. What other code makes after module calls for several elements, such as a mask,
 * gives way to the result of the calls if the next element keeps that. */
static void infer_output(struct forward_chain *chain, const struct chain_measure *measure,
                         const struct gradient_sizes *sizes, size_t i)
{
    struct chain_element *element = &chain->elements[i];
    uint32_t found = EVENT_NEVER;
    bool is_between = !chain_is_modules(chain, i);
    element->output_bytes = i > 0 ? chain->elements[i - 1].output_bytes : 0;
    element->output_from = OUTPUT_NONE;
    element->output_item = EVENT_NEVER;
    for (uint32_t run = measure->runs[i + 1]; run-- > measure->runs[i];) {
        uint32_t returned = returned_by(chain, measure, i, run);
        if (returned == EVENT_NEVER)
            continue;
        bool is_weak = (is_between && !is_handed_on(measure, chain, i, returned)) ||
                       gradient_sizes_lack(sizes, measure->timeline, returned);
        if (found == EVENT_NEVER ||
            (!is_weak && (gradient_sizes_lack(sizes, measure->timeline, found) ||
                          size_of(measure, returned) == size_of(measure, found)))) {
            found = returned;
            if (!is_weak)
                break;
        }
    }
    if (found != EVENT_NEVER && is_made_after_calls(chain, measure, i, found) &&
        !is_handed_on(measure, chain, i, found)) {
        uint32_t result = chain_result_of_calls(chain, measure, i);
        found = result == EVENT_NEVER ? found : result;
    }
    if (found != EVENT_NEVER)
        set_output(element, measure, found, OUTPUT_LAST);
}

/* The size that the outputs of more than half of the elements [first, end) have, or 0. It is found
 * by the Boyer-Moore majority vote. */
static int64_t majority(const struct forward_chain *chain, size_t first, size_t end)
{
    int64_t size = 0;
    size_t votes = 0, count = 0;
    for (size_t i = first; i < end; i++) {
        int64_t own = chain->elements[i].output_bytes;
        if (votes == 0)
            size = own;
        votes += own == size ? 1 : (size_t)-1;
    }
    for (size_t i = first; i < end; i++)
        count += chain->elements[i].output_bytes == size;
    return count * 2 > end - first && end - first > 1 ? size : 0;
}

/* Sets the output of element i to the last allocation of a size that it leaves, if there is one.
 * Between module calls, one that is handed on comes first. */
static void repeat_output(struct forward_chain *chain, const struct chain_measure *measure,
                          size_t i, int64_t size)
{
    uint32_t found = EVENT_NEVER;
    for (uint32_t k = first_lifetime(measure, i + 1); k-- > first_lifetime(measure, i);) {
        if (size_of(measure, k) != (uint64_t)size || !lives_on(measure, chain, i, k))
            continue;
        bool is_next = chain_is_modules(chain, i) || is_handed_on(measure, chain, i, k);
        if (found == EVENT_NEVER || is_next)
            found = k;
        if (is_next)
            break;
    }
    if (found != EVENT_NEVER)
        set_output(&chain->elements[i], measure, found, OUTPUT_REPEATS);
}

/* Sets output_passes: only the next element uses an output that is freed by the end of that one and
 * is not kept for the backward pass. */
static void note_passing(struct forward_chain *chain, const struct chain_measure *measure)
{
    const struct timeline *timeline = measure->timeline;
    for (size_t i = 0; i + 1 < chain->count; i++) {
        struct chain_element *element = &chain->elements[i];
        if (element->output_from == OUTPUT_NONE)
            continue;
        uint32_t next_end =
            i + 2 < chain->count ? chain->elements[i + 2].first_item : measure->pass->backward;
        size_t lifetime = births_from(timeline, element->output_item);
        element->output_passes =
            lifetime_end(&timeline->lifetimes[lifetime]) <= next_end &&
            !pass_keeps(measure->pass, timeline, measure->categories, lifetime);
    }
}

bool chain_set_outputs(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err)
{
    struct gradient_sizes sizes;
    if (!gradient_sizes_find(&sizes, measure->timeline, measure->pass, chain->budget, err))
        return false;
    for (size_t i = 0; i < chain->count; i++) {
        uint32_t item = measure->timeline->lifetimes[first_lifetime(measure, i)].alloc;
        bool is_before = item < measure->pass->first; /* frozen blocks, with CHAIN_LOOPS */
        chain->elements[i].first_item = is_before ? measure->pass->first : item;
    }
    for (size_t i = 0; i < chain->count; i++) {
        count_up(chain, measure, i);
        infer_output(chain, measure, &sizes, i);
    }
    for (size_t first = 0, end; first < chain->count; first = end) {
        end = chain_loop_end(chain, first);
        int64_t size = majority(chain, first, end);
        for (size_t i = first; i < end && size > 0; i++)
            repeat_output(chain, measure, i, size);
    }
    note_passing(chain, measure);
    gradient_sizes_release(&sizes);
    return true;
}
