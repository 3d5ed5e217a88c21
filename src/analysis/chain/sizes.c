#include "analysis/chain/sizes.h"

#include <stdlib.h>

#include "analysis/phase/births.h"

#define NANOSECONDS 1000 /* in a microsecond */
#define MOST_BESIDE 16   /* times the size of its result, what an operator keeps for itself */

/* The loop that an element is one iteration of, or NO_LOOP. */
static uint32_t loop_of(const struct forward_chain *chain, size_t element)
{
    const struct chain_element *it = &chain->elements[element];
    return it->end_part == it->first_part + 1 ? chain->parts[it->first_part].loop : NO_LOOP;
}

/* Behind the elements that are iterations of the same loop as `element`. */
static size_t loop_end(const struct forward_chain *chain, size_t element)
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

/* Something that an operator made for others, and that is there when the element ends. */
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

/* Lifetime a ends before b, and something is allocated in between: another operator runs. */
static bool ends_before(const struct timeline *timeline, uint32_t a, uint32_t b)
{
    uint32_t end = lifetime_end(&timeline->lifetimes[a]);
    uint32_t later = lifetime_end(&timeline->lifetimes[b]);
    size_t next = end < later ? births_from(timeline, end) : timeline->lifetime_count;
    return next < timeline->lifetime_count && timeline->lifetimes[next].alloc < later;
}

/* Some operators keep more for their own backward than they return: indices of maxima, the gates of
 * a recurrent cell. The layer that took the output has its backward first, so what the operator
 * kept for itself is freed after the output. An operator that keeps its output, too, as recurrent
 * layers do, frees both at once; then it is what has the size of the layer's input. */
static uint32_t returned_with(const struct chain_measure *measure,
                              const struct forward_chain *chain, size_t i, uint32_t run,
                              uint32_t largest)
{
    const struct call_run *runs = measure->tree->runs;
    const struct timeline *timeline = measure->timeline;
    const struct chain_element *element = &chain->elements[i];
    uint32_t found = largest;
    if (lifetime_end(&timeline->lifetimes[largest]) >= measure->pass->end)
        return largest; /* the program holds it */
    for (uint32_t k = runs[run].lifetime; k < runs[run + 1].lifetime; k++)
        if (lives_on(measure, chain, i, k) && size_of(measure, k) > 0 &&
            size_of(measure, k) >= size_of(measure, largest) / MOST_BESIDE &&
            (ends_before(timeline, k, found) ||
             (found == largest && size_of(measure, k) == (uint64_t)element->output_bytes &&
              !ends_before(timeline, found, k))))
            found = k;
    return found;
}

/* The largest allocation left by the last run that leaves any: a mask may follow what it masks. */
static void infer_output(struct forward_chain *chain, const struct chain_measure *measure, size_t i)
{
    struct chain_element *element = &chain->elements[i];
    const struct call_run *runs = measure->tree->runs;
    element->output_bytes = i > 0 ? chain->elements[i - 1].output_bytes : 0;
    element->output_from = OUTPUT_NONE;
    element->output_item = EVENT_NEVER;
    for (uint32_t run = measure->runs[i + 1]; run-- > measure->runs[i];) {
        uint32_t largest = EVENT_NEVER;
        for (uint32_t k = runs[run].lifetime; k < runs[run + 1].lifetime; k++)
            if (lives_on(measure, chain, i, k) && size_of(measure, k) > 0 &&
                (largest == EVENT_NEVER || size_of(measure, k) >= size_of(measure, largest)))
                largest = k;
        if (largest == EVENT_NEVER)
            continue;
        set_output(element, measure, returned_with(measure, chain, i, run, largest), OUTPUT_LAST);
        return;
    }
}

/* The output size that more than half of the elements [first, end) have, if any, by Boyer and
 * Moore's majority vote. */
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

/* The last allocation of that size that element i leaves becomes its output. */
static void repeat_output(struct forward_chain *chain, const struct chain_measure *measure,
                          size_t i, int64_t size)
{
    for (uint32_t k = first_lifetime(measure, i + 1); k-- > first_lifetime(measure, i);)
        if (size_of(measure, k) == (uint64_t)size && lives_on(measure, chain, i, k)) {
            set_output(&chain->elements[i], measure, k, OUTPUT_REPEATS);
            return;
        }
}

/* An output that the next element has freed by its end is there for that one only. */
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

void chain_set_outputs(struct forward_chain *chain, const struct chain_measure *measure)
{
    for (size_t i = 0; i < chain->count; i++) {
        uint32_t item = measure->timeline->lifetimes[first_lifetime(measure, i)].alloc;
        bool is_before = item < measure->pass->first; /* with CHAIN_LOOPS */
        chain->elements[i].first_item = is_before ? measure->pass->first : item;
    }
    for (size_t i = 0; i < chain->count; i++) {
        count_up(chain, measure, i);
        infer_output(chain, measure, i);
    }
    for (size_t first = 0, end; first < chain->count; first = end) {
        end = loop_end(chain, first);
        int64_t size = majority(chain, first, end);
        for (size_t i = first; i < end && size > 0; i++)
            repeat_output(chain, measure, i, size);
    }
    note_passing(chain, measure);
}

static int64_t time_at(const struct chain_measure *measure, uint32_t item)
{
    return trace_time(measure->timeline->trace, item);
}

/* The time between two items in nanoseconds; false if it is negative or overflows. */
static bool time_between(const struct chain_measure *measure, uint32_t first, uint32_t end,
                         int64_t *out)
{
    int64_t time;
    if (__builtin_sub_overflow(time_at(measure, end), time_at(measure, first), &time) || time < 0)
        return false;
    return !__builtin_mul_overflow(time, NANOSECONDS, out);
}

/* The nanoseconds of all kernels launched before an item. */
static int64_t kernels_before(const struct chain_measure *measure, uint32_t item)
{
    const struct snapshot *snapshot = measure->timeline->snapshot;
    int64_t time = time_at(measure, item);
    size_t count = snapshot_launches_before(snapshot, time);
    return count == 0 ? 0 : snapshot->launches[count - 1].kernel_ns;
}

/* False if no kernels were launched in the forward pass. */
static bool take_kernels(struct forward_chain *chain, const struct chain_measure *measure)
{
    const struct pass *pass = measure->pass;
    uint32_t last = pass->backward < pass->end ? pass->backward : pass->end - 1;
    if (measure->timeline->snapshot->launch_count == 0 || chain->count == 0)
        return false;
    int64_t first = kernels_before(measure, chain->elements[0].first_item), before = first;
    for (size_t i = 0; i < chain->count; i++) {
        uint32_t end = i + 1 < chain->count ? chain->elements[i + 1].first_item : last;
        int64_t now = kernels_before(measure, end);
        chain->elements[i].forward_ns = now - before;
        before = now;
    }
    chain->backward_ns = kernels_before(measure, pass->end - 1) - before;
    return before > first;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Iterations that keep the same do the same. If one takes longer, the host does something else,
 * such as loading a library on first use. */
static void take_median(struct forward_chain *chain, size_t first, size_t end, int64_t *times)
{
    bool equal = true;
    for (size_t i = first; i < end; i++) {
        const struct chain_element *a = &chain->elements[first], *b = &chain->elements[i];
        equal &= a->activation_bytes == b->activation_bytes && a->allocations == b->allocations;
        times[i - first] = b->forward_ns;
    }
    if (!equal || end - first < 3)
        return;
    qsort(times, end - first, sizeof(*times), compare_times);
    for (size_t i = first; i < end; i++)
        chain->elements[i].forward_ns = times[(end - first) / 2];
}

static bool take_times(struct forward_chain *chain, const struct chain_measure *measure)
{
    const struct pass *pass = measure->pass;
    uint32_t last = pass->backward < pass->end ? pass->backward : pass->end - 1;
    int64_t sum = 0;
    for (size_t i = 0; i < chain->count; i++) {
        struct chain_element *element = &chain->elements[i];
        uint32_t end = i + 1 < chain->count ? chain->elements[i + 1].first_item : last;
        if (!time_between(measure, element->first_item, end, &element->forward_ns) ||
            __builtin_add_overflow(sum, element->forward_ns, &sum))
            return false;
    }
    return sum > 0 && time_between(measure, last, pass->end - 1, &chain->backward_ns) &&
           !__builtin_add_overflow(sum, chain->backward_ns, &sum);
}

bool chain_set_times(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err)
{
    size_t bytes = chain->count * sizeof(int64_t);
    chain->kernels_timed = take_kernels(chain, measure);
    chain->timed = chain->kernels_timed || take_times(chain, measure);
    if (!chain->timed) {
        for (size_t i = 0; i < chain->count; i++)
            chain->elements[i].forward_ns = 0;
        chain->backward_ns = 0;
        return true;
    }
    if (!budget_take(chain->budget, bytes, err))
        return false;
    int64_t *times = malloc(bytes);
    for (size_t first = 0, end; times && first < chain->count; first = end) {
        end = loop_end(chain, first);
        take_median(chain, first, end, times);
    }
    budget_give(chain->budget, bytes);
    free(times);
    return times || error_out_of_memory(err);
}
