#include "analysis/growth/pass_results.h"

#include <string.h>

#include "analysis/phase/births.h"

#define LEAST_MADE 16
#define MOST_KEPT  2
#define OF_GRAPH   4   /* at most 1/4 of the tensors that a pass keeps for its backward pass */
#define TINY       512 /* bytes; a loss or another number */

/* The numbers of tensors that are made in [first, end), without tiny ones. */
struct pass_counts {
    size_t made, kept; /* `kept` outlive the pass */
    size_t freed;      /* of `kept`, those freed before `until` */
};

static struct pass_counts count(const struct timeline *timeline, uint32_t first, uint32_t end,
                                uint32_t until)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    struct pass_counts counts = {0};
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && lifetimes[i].alloc < end; i++) {
        if (trace_size(timeline->trace, lifetimes[i].alloc) <= TINY)
            continue;
        uint32_t freed = lifetime_end(&lifetimes[i]);
        counts.made++;
        counts.kept += freed >= end;
        counts.freed += freed >= end && freed < until;
    }
    return counts;
}

/* The lowest number of tensors that a pass keeps for its backward pass; 0 if there is no such pass.
 */
static size_t fewest_for_backward(const struct timeline *timeline, const struct phases *phases)
{
    size_t fewest = 0;
    for (size_t run = 0; run + 1 < phases->count; run++) {
        if (phases->runs[run].phase != PHASE_FORWARD ||
            phases->runs[run + 1].phase != PHASE_BACKWARD)
            continue;
        struct pass_counts counts =
            count(timeline, phases->runs[run].first, phases->runs[run + 1].first,
                  phases_run_end(phases, run + 1, timeline->trace->count));
        if (counts.made >= LEAST_MADE && (fewest == 0 || counts.freed < fewest))
            fewest = counts.freed;
    }
    return fewest;
}

/* Marks what outlives the pass [first, end), if that is at most `most` tensors. */
static void judge(struct pass_results *results, const struct timeline *timeline, uint32_t first,
                  uint32_t end, size_t most)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    struct pass_counts counts = count(timeline, first, end, end);
    if (counts.made < LEAST_MADE || counts.kept > most)
        return;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && lifetimes[i].alloc < end; i++)
        results->is_result[i] = trace_size(timeline->trace, lifetimes[i].alloc) > TINY &&
                                lifetime_end(&lifetimes[i]) >= end;
}

bool pass_results_find(struct pass_results *results, const struct timeline *timeline,
                       const struct phases *phases, struct error *err)
{
    struct pass_results made = {.budget = timeline->snapshot->budget};
    *results = (struct pass_results){0};
    if (!vec_reserve(made.is_result, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_result, 0, timeline->lifetime_count + 1);
    size_t most = fewest_for_backward(timeline, phases) / OF_GRAPH;
    if (most < MOST_KEPT)
        most = MOST_KEPT;
    for (size_t run = 0; run + 1 < phases->count; run++)
        if (phases->runs[run].phase == PHASE_FORWARD)
            judge(&made, timeline, phases->runs[run].first, phases->runs[run + 1].first, most);
    *results = made;
    return true;
}

void pass_results_release(struct pass_results *results)
{
    vec_free(results->is_result, results->capacity, sizeof(*results->is_result), results->budget);
    *results = (struct pass_results){0};
}
