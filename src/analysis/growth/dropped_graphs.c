#include "analysis/growth/dropped_graphs.h"

#include <string.h>

#include "analysis/growth/dropped_last.h"
#include "analysis/growth/early_ends.h"
#include "analysis/growth/graph_bursts.h"
#include "analysis/growth/stored_graphs.h"
#include "analysis/growth/untouched_calls.h"
#include "analysis/phase/births.h"
#include "analysis/phase/failures.h"

#define MOST_RUNS 8 /* runs that are searched for the next pass */
/* Bytes that are dropped, as a multiple of those that a backward pass uses. */
#define OVERWHELMING 4

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    struct failures failures;
    struct dropped_graphs *dropped;
    bool any_dropped;
    uint8_t *is_early;     /* by lifetime: the graph was dropped before the backward pass of its own
                              forward pass, or that pass left its call alone */
    uint8_t *is_untouched; /* by lifetime: see untouched_calls.h */
    uint8_t *frees_late;   /* by run: see untouched_calls.h */
    uint32_t *next_run;    /* by run: next_backward() */
    struct graph_bursts bursts;
    int64_t *used,
        *unused; /* by run: bytes that a backward pass freed, and bytes that a graph dropped */
    int64_t *freed,
        *held; /* by backward run: bytes of its step that it frees, and that it does not free */
    size_t used_capacity, unused_capacity, freed_capacity, held_capacity;
    size_t early_capacity, untouched_capacity, late_capacity, next_capacity;
};

static int64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->timeline;
    return (int64_t)trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static enum phase phase_of(const struct finder *finder, uint32_t run)
{
    return run < finder->phases->count ? (enum phase)finder->phases->runs[run].phase
                                       : PHASE_UNKNOWN;
}

/* The backward run before the next forward pass, or NO_RUN. It goes through the graph of this
 * forward pass, even if it is recorded itself (create_graph=True) and frees nothing. */
static uint32_t backward_of(const struct finder *finder, uint32_t pass)
{
    for (uint32_t run = pass + 1; run < finder->phases->count && run - pass <= MOST_RUNS; run++)
        if (phase_of(finder, run) > PHASE_DATA)
            return phase_of(finder, run) == PHASE_BACKWARD ? run : NO_RUN;
    return NO_RUN;
}

/* Sets next_run[run] to the next backward run of the step after it, or NO_RUN. */
static void find_next_runs(struct finder *finder)
{
    const struct phase_run *runs = finder->phases->runs;
    uint32_t next = NO_RUN;
    for (uint32_t run = (uint32_t)finder->phases->count; run-- > 0;) {
        finder->next_run[run] = next != NO_RUN && runs[next].pass == runs[run].pass ? next : NO_RUN;
        if (runs[run].phase == PHASE_BACKWARD)
            next = run;
    }
}

/* Sums up what runs keep, and what backward passes free of their own step. */
static void measure_passes(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    find_next_runs(finder);
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        struct lifetime_runs runs = finder->phases->of_lifetime[i];
        if (finder->categories->of_lifetime[i] != CATEGORY_ACTIVATION)
            continue;
        uint32_t next = finder->next_run[runs.birth], end = runs.end;
        if (next == NO_RUN || end < next)
            continue;
        *(end == next ? &finder->freed[next] : &finder->held[next]) += size_of(finder, i);
    }
}

/* True if the next backward pass may have gone through the graph and kept it for another one
 * (retain_graph=True). Then it frees little of what its step made, or begins to free it late. */
static bool may_be_retained(const struct finder *finder, size_t index)
{
    uint32_t next = finder->next_run[finder->phases->of_lifetime[index].birth];
    return next != NO_RUN && !finder->is_untouched[index] &&
           lifetime_end(&finder->timeline->lifetimes[index]) >= finder->phases->runs[next].first &&
           (finder->frees_late[next] || finder->held[next] / OVERWHELMING >= finder->freed[next]);
}

static void mark(struct finder *finder, uint32_t index)
{
    finder->dropped->is_dropped[index] = true;
    finder->any_dropped = true;
}

/* Judges an activation by the stack that frees it. */
static bool judge(struct finder *finder, uint32_t index, struct error *err)
{
    const stack_id *stacks = finder->timeline->trace->stack;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    uint32_t item = lifetime_end(lifetime), run = finder->phases->of_lifetime[index].end;
    if (item == EVENT_NEVER || phase_of(finder, run) == PHASE_BACKWARD ||
        may_be_retained(finder, index))
        return true;
    uint32_t pass = graph_pass_of(finder->phases, index);
    if (pass == NO_RUN || failures_between(&finder->failures, lifetime->alloc, item))
        return true;
    uint32_t backward = backward_of(finder, pass);
    bool is_early = backward != NO_RUN &&
                    (item < finder->phases->runs[backward].first || finder->is_untouched[index]);
    if (backward != NO_RUN && !is_early)
        return true;
    const struct stack_facts *facts = site_stack_facts(finder->sites, stacks[item], err);
    if (!facts)
        return false;
    if (facts->releases_graph && !facts->site.has_backward) {
        mark(finder, index);
        finder->is_early[index] = is_early || finder->is_untouched[index];
    }
    return (is_early && !finder->is_untouched[index]) ||
           graph_bursts_add(&finder->bursts, finder->sites, index, err);
}

/* Marks the tensors of bursts. */
static void mark_bursts(struct finder *finder)
{
    const struct graph_bursts *bursts = &finder->bursts;
    if (!graph_bursts_flag(&finder->bursts, finder->dropped->is_dropped))
        return;
    finder->any_dropped = true;
    for (size_t i = 0; i < bursts->count; i++) {
        uint32_t index = bursts->ends[i].index;
        finder->is_early[index] = finder->dropped->is_dropped[index] && finder->is_untouched[index];
    }
}

static bool judge_all(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->phases;
    if (!graph_bursts_open(&finder->bursts, finder->timeline, phases, err))
        return false;
    for (size_t n = 0; n < phases->outliving_count; n++)
        if (dropped_last_may_hold(finder->categories, phases->outliving[n]) &&
            !judge(finder, phases->outliving[n], err))
            return false;
    mark_bursts(finder);
    return true;
}

/* Adds up, for each forward pass, what backward passes freed and what graphs dropped. */
static void add_up(struct finder *finder)
{
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        uint32_t pass, end = finder->phases->of_lifetime[i].end;
        if (!dropped_last_may_hold(finder->categories, i) ||
            (pass = graph_pass_of(finder->phases, i)) == NO_RUN)
            continue;
        if (phase_of(finder, end) == PHASE_BACKWARD)
            finder->used[pass] += size_of(finder, i);
        else if (finder->dropped->is_dropped[i] && !finder->is_early[i])
            finder->unused[pass] += size_of(finder, i);
    }
}

/* Counts the forward passes with dropped graphs, without those whose tensors a backward pass used.
 */
static void count_passes(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    struct dropped_graphs *dropped = finder->dropped;
    int64_t peak = timeline->active.peak_event;
    add_up(finder);
    for (size_t run = 0; run < finder->phases->count; run++)
        dropped->passes +=
            finder->unused[run] > 0 && finder->unused[run] / OVERWHELMING >= finder->used[run];
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (!dropped->is_dropped[i])
            continue;
        uint32_t pass = graph_pass_of(finder->phases, i);
        if (pass == NO_RUN) {
            dropped->is_dropped[i] = false;
            continue;
        }
        if (!finder->is_early[i] && finder->unused[pass] / OVERWHELMING < finder->used[pass]) {
            dropped->is_dropped[i] = false;
            continue;
        }
        dropped->count++;
        if ((int64_t)lifetime->alloc <= peak && (int64_t)lifetime->free_completed > peak)
            dropped->at_peak_bytes += size_of(finder, i);
    }
}

static bool make_room(struct finder *finder, struct error *err)
{
    size_t runs = finder->phases->count, lifetimes = finder->timeline->lifetime_count;
    struct dropped_graphs *dropped = finder->dropped;
    if (!vec_reserve(finder->used, finder->used_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(finder->unused, finder->unused_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(finder->freed, finder->freed_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(finder->held, finder->held_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(dropped->is_dropped, dropped->capacity, lifetimes + 1, dropped->budget, err) ||
        !vec_reserve(finder->is_early, finder->early_capacity, lifetimes + 1, dropped->budget,
                     err) ||
        !vec_reserve(finder->is_untouched, finder->untouched_capacity, lifetimes + 1,
                     dropped->budget, err) ||
        !vec_reserve(finder->frees_late, finder->late_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(finder->next_run, finder->next_capacity, runs + 1, dropped->budget, err))
        return false;
    memset(finder->is_early, 0, lifetimes + 1);
    memset(finder->is_untouched, 0, lifetimes + 1);
    memset(finder->frees_late, 0, runs + 1);
    memset(finder->used, 0, (runs + 1) * sizeof(*finder->used));
    memset(finder->unused, 0, (runs + 1) * sizeof(*finder->unused));
    memset(finder->freed, 0, (runs + 1) * sizeof(*finder->freed));
    memset(finder->held, 0, (runs + 1) * sizeof(*finder->held));
    memset(dropped->is_dropped, 0, lifetimes + 1);
    return true;
}

bool dropped_graphs_find(struct dropped_graphs *dropped, const struct timeline *timeline,
                         struct site_table *sites, const struct categories *categories,
                         const struct phases *phases, struct error *err)
{
    struct dropped_graphs made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .categories = categories,
                            .phases = phases,
                            .dropped = &made};
    bool ok = true;
    if (phases->has_stacks && phases->any_step) {
        ok = failures_find(&finder.failures, timeline, err) && make_room(&finder, err);
        if (ok)
            measure_passes(&finder);
        ok = ok &&
             untouched_calls_find(finder.is_untouched, finder.frees_late, timeline, sites,
                                  categories, phases, finder.next_run, err) &&
             judge_all(&finder, err) &&
             stored_graphs_mark(made.is_dropped, finder.is_early, &finder.any_dropped,
                                finder.is_untouched, finder.next_run, timeline, categories, phases,
                                &finder.failures, err) &&
             (!finder.any_dropped ||
              dropped_last_mark(made.is_dropped, finder.is_early, finder.next_run, timeline,
                                categories, phases, err));
        if (ok && finder.any_dropped)
            count_passes(&finder);
        struct early_saving saving = {0};
        ok = ok &&
             (made.at_peak_bytes == 0 ||
              early_ends_save(timeline, sites, categories, made.is_dropped, NULL, &saving, err));
        if (ok)
            made.save_bytes = early_saving_bound(&saving, &made.saves_at_most);
    }
    failures_release(&finder.failures);
    graph_bursts_close(&finder.bursts);
    vec_free(finder.is_early, finder.early_capacity, sizeof(*finder.is_early), made.budget);
    vec_free(finder.is_untouched, finder.untouched_capacity, sizeof(*finder.is_untouched),
             made.budget);
    vec_free(finder.frees_late, finder.late_capacity, sizeof(*finder.frees_late), made.budget);
    vec_free(finder.next_run, finder.next_capacity, sizeof(*finder.next_run), made.budget);
    vec_free(finder.used, finder.used_capacity, sizeof(*finder.used), made.budget);
    vec_free(finder.unused, finder.unused_capacity, sizeof(*finder.unused), made.budget);
    vec_free(finder.freed, finder.freed_capacity, sizeof(*finder.freed), made.budget);
    vec_free(finder.held, finder.held_capacity, sizeof(*finder.held), made.budget);
    if (!ok || made.count == 0) {
        dropped_graphs_release(&made);
        made = (struct dropped_graphs){0};
    }
    if (ok)
        *dropped = made;
    return ok;
}

void dropped_graphs_release(struct dropped_graphs *dropped)
{
    vec_free(dropped->is_dropped, dropped->capacity, sizeof(*dropped->is_dropped), dropped->budget);
    *dropped = (struct dropped_graphs){0};
}
