#include "analysis/growth/pass_results.h"

#include <string.h>

#include "analysis/phase/births.h"

#define LEAST_MADE 16
#define MOST_KEPT  2
#define TINY       512 /* bytes at most, of a loss or another number */

/* Marks what outlives the pass [first, end), if it is little. */
static void judge(struct pass_results *results, const struct timeline *timeline, uint32_t first,
                  uint32_t end)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    size_t kept[MOST_KEPT], kept_count = 0, made = 0;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && lifetimes[i].alloc < end; i++) {
        if (trace_size(timeline->trace, lifetimes[i].alloc) <= TINY)
            continue;
        made++;
        if (lifetime_end(&lifetimes[i]) < end)
            continue;
        if (kept_count == MOST_KEPT)
            return;
        kept[kept_count++] = i;
    }
    for (size_t i = 0; made >= LEAST_MADE && i < kept_count; i++)
        results->is_result[kept[i]] = 1;
}

bool pass_results_find(struct pass_results *results, const struct timeline *timeline,
                       const struct phases *phases, struct error *err)
{
    struct pass_results made = {.budget = timeline->snapshot->budget};
    *results = (struct pass_results){0};
    if (!vec_reserve(made.is_result, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_result, 0, timeline->lifetime_count + 1);
    for (size_t run = 0; run + 1 < phases->count; run++)
        if (phases->runs[run].phase == PHASE_FORWARD)
            judge(&made, timeline, phases->runs[run].first, phases->runs[run + 1].first);
    *results = made;
    return true;
}

void pass_results_release(struct pass_results *results)
{
    vec_free(results->is_result, results->capacity, sizeof(*results->is_result), results->budget);
    *results = (struct pass_results){0};
}
