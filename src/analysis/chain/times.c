#include <stdlib.h>

#include "analysis/chain/sizes.h"
#include "base/bisect.h"

#define NANOSECONDS 1000 /* in a microsecond */

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

/* Takes the times of kernels. False if no kernels were launched in the forward pass. */
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

/* Gives iterations that keep the same the median of their times, because they do the same work. If
 * one takes longer, the host did something else, such as loading a library on first use. */
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
    qsort(times, end - first, sizeof(*times), compare_signed);
    for (size_t i = first; i < end; i++)
        chain->elements[i].forward_ns = times[(end - first) / 2];
}

/* Takes the time that passed on the host. False if the clock of the trace is missing or goes back.
 */
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
        end = chain_loop_end(chain, first);
        take_median(chain, first, end, times);
    }
    budget_give(chain->budget, bytes);
    free(times);
    return times || error_out_of_memory(err);
}
