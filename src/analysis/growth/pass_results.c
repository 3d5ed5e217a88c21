#include "analysis/growth/pass_results.h"

#include <string.h>

#include "analysis/phase/births.h"

#define LEAST_MADE  16
#define MOST_KEPT   2
#define OF_GRAPH    4   /* at most 1/4 of the tensors that a pass keeps for its backward pass */
#define TINY        512 /* bytes; a loss or another number */
#define LEAST_LATER 2   /* forward passes that run while a result is live */

/* The numbers of tensors that are made in [first, end), without tiny ones and without caches of
 * keys and values, which a pass hands on to the next one. */
struct pass_counts {
    size_t made, kept; /* `kept` outlive the pass */
    size_t freed;      /* of `kept`, those freed before `until` */
};

struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct categories *categories;
    struct pass_results *results;
    size_t most;       /* tensors that a pass without autograd leaves */
    uint32_t *without; /* by run: the number of such passes before it */
    size_t capacity;
};

static bool counts(const struct finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc) > TINY &&
           finder->categories->of_lifetime[index] != CATEGORY_KV_CACHE;
}

static struct pass_counts count(const struct finder *finder, uint32_t first, uint32_t end,
                                uint32_t until)
{
    const struct timeline *timeline = finder->timeline;
    const struct lifetime *lifetimes = timeline->lifetimes;
    struct pass_counts sums = {0};
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && lifetimes[i].alloc < end; i++) {
        if (!counts(finder, i))
            continue;
        uint32_t freed = lifetime_end(&lifetimes[i]);
        sums.made++;
        sums.kept += freed >= end;
        sums.freed += freed >= end && freed < until;
    }
    return sums;
}

/* The lowest number of tensors that a pass keeps for its backward pass; 0 if there is no such pass.
 */
static size_t fewest_for_backward(const struct finder *finder)
{
    const struct phases *phases = finder->phases;
    size_t fewest = 0;
    for (size_t run = 0; run + 1 < phases->count; run++) {
        if (phases->runs[run].phase != PHASE_FORWARD ||
            phases->runs[run + 1].phase != PHASE_BACKWARD)
            continue;
        struct pass_counts sums =
            count(finder, phases->runs[run].first, phases->runs[run + 1].first,
                  phases_run_end(phases, run + 1, finder->timeline->trace->count));
        if (sums.made >= LEAST_MADE && (fewest == 0 || sums.freed < fewest))
            fewest = sums.freed;
    }
    return fewest;
}

/* Marks what outlives the pass [first, end); false if it keeps a graph, or is too short to tell. */
static bool judge(const struct finder *finder, uint32_t first, uint32_t end)
{
    const struct timeline *timeline = finder->timeline;
    const struct lifetime *lifetimes = timeline->lifetimes;
    struct pass_counts sums = count(finder, first, end, end);
    if (sums.made < LEAST_MADE || sums.kept > finder->most)
        return false;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && lifetimes[i].alloc < end; i++)
        finder->results->is_result[i] = counts(finder, i) && lifetime_end(&lifetimes[i]) >= end;
    return true;
}

static void judge_all(const struct finder *finder)
{
    const struct phases *phases = finder->phases;
    finder->without[0] = 0;
    for (size_t run = 0; run < phases->count; run++) {
        bool is_without = run + 1 < phases->count && phases->runs[run].phase == PHASE_FORWARD &&
                          judge(finder, phases->runs[run].first, phases->runs[run + 1].first);
        finder->without[run + 1] = finder->without[run] + is_without;
    }
}

/* True if the run follows on such a pass, or on one of a few tensors that no backward pass uses. */
static bool follows_pass(const struct finder *finder, size_t run)
{
    const struct phase_run *before = &finder->phases->runs[run - 1];
    return finder->without[run] > finder->without[run - 1] ||
           (before->phase == PHASE_FORWARD && !before->is_saved);
}

/* Marks what plain code computes right after such passes, and keeps over later ones. */
static void mark_computed(const struct finder *finder)
{
    const struct phases *phases = finder->phases;
    const uint32_t *without = finder->without;
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++) {
        struct lifetime_runs runs = phases->of_lifetime[i];
        size_t birth = runs.birth, end = runs.end < phases->count ? runs.end : phases->count;
        if (birth == 0 || birth >= phases->count || phases->runs[birth].phase > PHASE_OTHER ||
            !follows_pass(finder, birth) || !counts(finder, i))
            continue;
        if (finder->categories->of_lifetime[i] == CATEGORY_ACTIVATION &&
            without[end] - without[birth] >= LEAST_LATER)
            finder->results->is_result[i] = 1;
    }
}

bool pass_results_find(struct pass_results *results, const struct timeline *timeline,
                       const struct phases *phases, const struct categories *categories,
                       struct error *err)
{
    struct pass_results made = {.budget = timeline->snapshot->budget};
    struct finder finder = {
        .timeline = timeline, .phases = phases, .categories = categories, .results = &made};
    *results = (struct pass_results){0};
    if (!vec_reserve(made.is_result, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    if (!vec_reserve(finder.without, finder.capacity, phases->count + 1, made.budget, err)) {
        pass_results_release(&made);
        return false;
    }
    memset(made.is_result, 0, timeline->lifetime_count + 1);
    finder.most = fewest_for_backward(&finder) / OF_GRAPH;
    if (finder.most < MOST_KEPT)
        finder.most = MOST_KEPT;
    judge_all(&finder);
    mark_computed(&finder);
    vec_free(finder.without, finder.capacity, sizeof(*finder.without), made.budget);
    *results = made;
    return true;
}

void pass_results_release(struct pass_results *results)
{
    vec_free(results->is_result, results->capacity, sizeof(*results->is_result), results->budget);
    *results = (struct pass_results){0};
}
