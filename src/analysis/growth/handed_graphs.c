#include "analysis/growth/handed_graphs.h"

#include "analysis/phase/births.h"
#include "base/budget.h"

#define LEAST_PASSES 3
#define LEAST_WORK   8     /* tensors that the backward pass of the first pass computes */
#define AS_MUCH      3 / 4 /* of the first pass's work; more than 5 / 4 is another kind of pass */
#define TOO_MUCH     5 / 4

/* The backward passes of one pass, by its number (phase_run.pass). */
struct pass_sums {
    uint32_t first, last; /* their first and last runs; NO_RUN: none */
    uint32_t computed;    /* allocations in them */
    uint32_t next;        /* the pass that this one hands its graph on to; NO_RUN: none */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    struct pass_sums *sums;
    size_t count, capacity;
};

static bool sum_up(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->phases;
    finder->count = phases->runs[phases->count - 1].pass + (size_t)1;
    if (!vec_reserve(finder->sums, finder->capacity, finder->count,
                     finder->timeline->snapshot->budget, err))
        return false;
    for (size_t i = 0; i < finder->count; i++)
        finder->sums[i] = (struct pass_sums){.first = NO_RUN, .last = NO_RUN, .next = NO_RUN};
    for (uint32_t run = 0; run < phases->count; run++) {
        struct pass_sums *sums = &finder->sums[phases->runs[run].pass];
        if (phases->runs[run].phase != PHASE_BACKWARD)
            continue;
        sums->first = sums->first == NO_RUN ? run : sums->first;
        sums->last = run;
    }
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++) {
        uint32_t birth = phases->of_lifetime[i].birth;
        if (birth < phases->count && phases->runs[birth].phase == PHASE_BACKWARD)
            finder->sums[phases->runs[birth].pass].computed++;
    }
    return true;
}

/* True if a pass works through one more graph than the one before it. */
static bool goes_on(const struct finder *finder, size_t first, size_t pass)
{
    const struct pass_sums *sums = finder->sums;
    uint64_t work = sums[first].computed, before = sums[pass - 1].computed;
    uint64_t now = sums[pass].computed;
    return sums[pass].first != NO_RUN && now >= before + work * AS_MUCH &&
           now <= before + work * TOO_MUCH;
}

/* Finds the passes that hand their graphs on. Returns whether there are any. */
static bool link(struct finder *finder)
{
    bool any = false;
    for (size_t first = 0, end; first < finder->count; first = end) {
        end = first + 1;
        if (finder->sums[first].first == NO_RUN || finder->sums[first].computed < LEAST_WORK)
            continue;
        while (end < finder->count && goes_on(finder, first, end))
            end++;
        for (size_t i = first; end - first >= LEAST_PASSES && i + 1 < end; i++) {
            finder->sums[i].next = (uint32_t)i + 1;
            any = true;
        }
    }
    return any;
}

static bool judge(const struct finder *finder, uint32_t index, bool *counts, struct error *err)
{
    const struct phases *phases = finder->phases;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    uint32_t birth = phases->of_lifetime[index].birth, end = lifetime_end(lifetime);
    *counts = false;
    if (birth >= phases->count || phases->runs[birth].phase == PHASE_BACKWARD ||
        finder->categories->of_lifetime[index] != CATEGORY_ACTIVATION)
        return true;
    const struct pass_sums *sums = &finder->sums[phases->runs[birth].pass];
    if (sums->next == NO_RUN || birth > sums->last ||
        end <= phases->runs[finder->sums[sums->next].first].first)
        return true;
    *counts = end == EVENT_NEVER;
    if (*counts)
        return true;
    const struct stack_facts *facts =
        site_stack_facts(finder->sites, finder->timeline->trace->stack[end], err);
    *counts = facts && facts->releases_graph;
    return facts != NULL;
}

bool handed_graphs_mark(uint8_t *flags, uint32_t *from, const struct timeline *timeline,
                        struct site_table *sites, const struct categories *categories,
                        const struct phases *phases, const uint8_t *is_dropped, struct error *err)
{
    struct finder finder = {
        .timeline = timeline, .sites = sites, .categories = categories, .phases = phases};
    bool ok = sum_up(&finder, err);
    for (size_t n = 0, any = ok && link(&finder); ok && any && n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        bool counts;
        if (is_dropped && is_dropped[i])
            continue;
        ok = judge(&finder, i, &counts, err);
        if (!ok || !counts)
            continue;
        const struct pass_sums *sums =
            &finder.sums[phases->runs[phases->of_lifetime[i].birth].pass];
        flags[i] = HANDED;
        from[i] = phases_run_end(phases, sums->last, timeline->trace->count);
    }
    vec_free(finder.sums, finder.capacity, sizeof(*finder.sums), timeline->snapshot->budget);
    return ok;
}
