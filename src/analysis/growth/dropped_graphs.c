#include "analysis/growth/dropped_graphs.h"

#include <string.h>

#include "analysis/growth/early_ends.h"
#include "analysis/phase/births.h"

#define LEAST_TENSORS 8 /* that one line frees at once, where no C++ frame shows the reason */
#define LEAST_STACKS  4 /* different ones, that allocated them */
#define OVERWHELMING  4 /* times as many bytes dropped as used by a backward pass */

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    struct dropped_graphs *dropped;
    uint32_t *freed; /* by item: 1 + the lifetime that ends there; 0: none */
    uint32_t *burst; /* lifetimes that one stack freed, with no allocation in between */
    size_t burst_count;
    stack_id burst_stack;
    int64_t *used, *unused; /* by run: bytes that a backward pass freed; that a graph dropped */
    size_t freed_capacity, burst_capacity, used_capacity, unused_capacity;
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

/* The forward pass in which it was made, or which the code that made it followed; NO_RUN: none. */
static uint32_t pass_of(const struct finder *finder, size_t index)
{
    uint32_t run = phases_run_of(finder->phases, finder->timeline->lifetimes[index].alloc);
    if (run != NO_RUN && run > 0 && phase_of(finder, run) == PHASE_OTHER)
        run--;
    return phase_of(finder, run) == PHASE_FORWARD ? run : NO_RUN;
}

/* Marks the burst if its tensors come from many lines, and begins the next. */
static void end_burst(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    stack_id stacks[LEAST_STACKS];
    size_t distinct = 0;
    for (size_t i = 0; i < finder->burst_count && distinct < LEAST_STACKS; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[finder->burst[i]].alloc];
        size_t known = 0;
        while (known < distinct && stacks[known] != stack)
            known++;
        if (known == distinct)
            stacks[distinct++] = stack;
    }
    if (finder->burst_count >= LEAST_TENSORS && distinct == LEAST_STACKS)
        for (size_t i = 0; i < finder->burst_count; i++)
            finder->dropped->is_dropped[finder->burst[i]] = true;
    finder->burst_count = 0;
}

static bool add_to_burst(struct finder *finder, uint32_t index, stack_id stack, struct error *err)
{
    if (stack != finder->burst_stack)
        end_burst(finder);
    finder->burst_stack = stack;
    if (!vec_reserve(finder->burst, finder->burst_capacity, finder->burst_count + 1,
                     finder->dropped->budget, err))
        return false;
    finder->burst[finder->burst_count++] = index;
    return true;
}

/* Judges an activation by the stack that frees it. */
static bool judge(struct finder *finder, uint32_t index, uint32_t item, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    uint32_t pass = pass_of(finder, index), run = phases_run_of(finder->phases, item);
    stack_id birth = trace->stack[finder->timeline->lifetimes[index].alloc];
    if (pass == NO_RUN || finder->categories->of_lifetime[index] != CATEGORY_ACTIVATION)
        return true;
    if (phase_of(finder, run) == PHASE_BACKWARD) {
        finder->used[pass] += size_of(finder, index);
        return true;
    }
    const struct stack_facts *facts = site_stack_facts(finder->sites, trace->stack[item], err);
    if (!facts)
        return false;
    bool is_backward = facts->site.has_backward, releases = facts->releases_graph;
    bool is_python = facts->site.any_python_frame != NO_FRAME;
    facts = site_stack_facts(finder->sites, birth, err);
    if (!facts)
        return false;
    if (releases && !is_backward)
        finder->dropped->is_dropped[index] = true;
    bool has_native = facts->in_operator;
    if (run == pass || has_native || is_backward || !is_python)
        return true;
    return add_to_burst(finder, index, trace->stack[item], err);
}

static bool judge_all(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end != EVENT_NEVER)
            finder->freed[end] = (uint32_t)i + 1;
    }
    for (uint32_t item = 0; item < timeline->trace->count; item++) {
        if (timeline->trace->action[item] == ACTION_ALLOC)
            end_burst(finder);
        if (finder->freed[item] > 0 && !judge(finder, finder->freed[item] - 1, item, err))
            return false;
    }
    end_burst(finder);
    return true;
}

/* Leaves out passes whose tensors a backward pass used, and counts the others. */
static void count_passes(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    struct dropped_graphs *dropped = finder->dropped;
    int64_t peak = timeline->active.peak_event;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (dropped->is_dropped[i])
            finder->unused[pass_of(finder, i)] += size_of(finder, i);
    for (size_t run = 0; run < finder->phases->count; run++)
        dropped->passes +=
            finder->unused[run] > 0 && finder->unused[run] / OVERWHELMING >= finder->used[run];
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (!dropped->is_dropped[i])
            continue;
        uint32_t pass = pass_of(finder, i);
        if (finder->unused[pass] / OVERWHELMING < finder->used[pass]) {
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
    size_t items = finder->timeline->trace->count, runs = finder->phases->count;
    struct dropped_graphs *dropped = finder->dropped;
    size_t lifetimes = finder->timeline->lifetime_count;
    if (!vec_reserve(finder->freed, finder->freed_capacity, items + 1, dropped->budget, err) ||
        !vec_reserve(finder->used, finder->used_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(finder->unused, finder->unused_capacity, runs + 1, dropped->budget, err) ||
        !vec_reserve(dropped->is_dropped, dropped->capacity, lifetimes + 1, dropped->budget, err))
        return false;
    memset(finder->freed, 0, (items + 1) * sizeof(*finder->freed));
    memset(finder->used, 0, (runs + 1) * sizeof(*finder->used));
    memset(finder->unused, 0, (runs + 1) * sizeof(*finder->unused));
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
        ok = make_room(&finder, err) && judge_all(&finder, err);
        if (ok)
            count_passes(&finder);
        ok = ok && (made.at_peak_bytes == 0 ||
                    early_ends_save(timeline, sites, made.is_dropped, &made.save_bytes, err));
    }
    vec_free(finder.freed, finder.freed_capacity, sizeof(*finder.freed), made.budget);
    vec_free(finder.burst, finder.burst_capacity, sizeof(*finder.burst), made.budget);
    vec_free(finder.used, finder.used_capacity, sizeof(*finder.used), made.budget);
    vec_free(finder.unused, finder.unused_capacity, sizeof(*finder.unused), made.budget);
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
