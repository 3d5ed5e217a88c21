#include "analysis/growth/untouched_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "base/budget.h"
#include "base/hash.h"

#define MOST_BEFORE 16 /* allocations of a backward pass before it frees something */

/* An activation, by the backward pass that follows it and the call of the model. */
struct item {
    uint32_t run, lifetime;
    uint64_t call;
    bool is_freed; /* by that backward pass */
};

/* The call of the model, by stack: a hash of the lines from the script to the one that called it.
 * One function may call the model for training and for an evaluation. */
struct call {
    uint64_t lines;
    bool is_known, exists;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    struct call *calls;
    size_t call_capacity;
    const struct phases *phases;
    const uint32_t *next_run;
    struct item *items; /* in order of lifetimes, so that those of one run follow each other */
    size_t count, capacity;
    struct budget *budget;
};

static bool make_room(struct finder *finder, struct error *err)
{
    size_t stacks = symbols_stack_count(site_table_symbols(finder->sites)) + 1;
    if (!vec_reserve(finder->calls, finder->call_capacity, stacks, finder->budget, err))
        return false;
    memset(finder->calls, 0, stacks * sizeof(*finder->calls));
    return true;
}

/* A hash of the lines of Python in a stack, from a frame to the outermost one. */
static uint64_t lines_from(const struct finder *finder, stack_id id, uint32_t frame)
{
    struct stack stack = symbols_stack_at(site_table_symbols(finder->sites), id);
    uint64_t hash = 0;
    for (size_t i = frame; i < stack.count; i++)
        if (site_frame_kind(finder->sites, stack.frames[i]) != FRAME_NATIVE)
            hash = hash_word(stack.frames[i], hash);
    return hash;
}

static bool find_call(struct finder *finder, stack_id stack, struct error *err)
{
    struct call *call = &finder->calls[stack];
    struct site site;
    if (!site_of(finder->sites, stack, &site, err))
        return false;
    site_at_model_call(finder->sites, stack, &site);
    call->exists = site_line(&site) != NO_FRAME;
    call->lines = lines_from(finder, stack, site_line(&site));
    call->is_known = true;
    return true;
}

static bool add(struct finder *finder, size_t index, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    stack_id stack = trace->stack[lifetime->alloc];
    struct lifetime_runs runs = finder->phases->of_lifetime[index];
    uint32_t run = finder->next_run[runs.birth], end = lifetime_end(lifetime);
    if (run == NO_RUN || end < finder->phases->runs[run].first)
        return true;
    const struct call *call = &finder->calls[stack];
    if (!call->is_known && !find_call(finder, stack, err))
        return false;
    struct item item = {run, (uint32_t)index, call->lines, runs.end == run};
    return !call->exists ||
           vec_push(finder->items, finder->count, finder->capacity, finder->budget, err, item);
}

/* Orders the activations of one run: by call, then by lifetime. */
static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

enum release { RELEASE_NONE, RELEASE_AT_ONCE, RELEASE_LATE };

/* The first item at which autograd's thread frees an activation of the forward pass, or
 * EVENT_NEVER. Where only Python frames are recorded, it has no frames. */
static uint32_t first_without_frames(const struct finder *finder, const struct item *items,
                                     size_t count)
{
    const struct timeline *timeline = finder->timeline;
    const struct symbols *symbols = site_table_symbols(finder->sites);
    uint32_t first = EVENT_NEVER;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[items[i].lifetime]);
        if (items[i].is_freed && end < first &&
            symbols_stack_at(symbols, timeline->trace->stack[end]).count == 0)
            first = end;
    }
    return first;
}

/* Whether the backward pass frees what autograd saved from its beginning on. One with
 * retain_graph=True may come before it without a forward pass in between. */
static bool release_of(const struct finder *finder, const struct item *items, size_t count,
                       enum release *release, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    const struct phase_run *runs = finder->phases->runs;
    uint32_t run = items->run, without_frames = first_without_frames(finder, items, count);
    size_t end = run + 1 < finder->phases->count ? runs[run + 1].first : trace->count, births = 0;
    *release = RELEASE_NONE;
    for (size_t i = runs[run].first; i < end && *release == RELEASE_NONE; i++) {
        births += trace->action[i] == ACTION_ALLOC;
        if (trace->action[i] != ACTION_FREE_REQUESTED && trace->action[i] != ACTION_FREE_COMPLETED)
            continue;
        const struct stack_facts *facts = site_stack_facts(finder->sites, trace->stack[i], err);
        if (!facts)
            return false;
        if (facts->releases_saved || i == without_frames)
            *release = births > MOST_BEFORE ? RELEASE_LATE : RELEASE_AT_ONCE;
    }
    return true;
}

static bool have_several_calls(const struct item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i].call != items[0].call)
            return true;
    return false;
}

/* Flags the calls of one backward pass of which it frees nothing. */
static void flag(struct item *items, size_t count, uint8_t *is_untouched)
{
    if (have_several_calls(items, count))
        qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0, next; i < count; i = next) {
        bool any_freed = false;
        for (next = i; next < count && items[next].call == items[i].call; next++)
            any_freed |= items[next].is_freed;
        for (size_t j = i; j < next && !any_freed; j++)
            is_untouched[items[j].lifetime] = true;
    }
}

static bool flag_all(const struct finder *finder, uint8_t *is_untouched, uint8_t *frees_late,
                     struct error *err)
{
    for (size_t i = 0, next; i < finder->count; i = next) {
        enum release release;
        for (next = i + 1; next < finder->count && finder->items[next].run == finder->items[i].run;)
            next++;
        if (!release_of(finder, &finder->items[i], next - i, &release, err))
            return false;
        frees_late[finder->items[i].run] = release == RELEASE_LATE;
        if (release == RELEASE_AT_ONCE)
            flag(&finder->items[i], next - i, is_untouched);
    }
    return true;
}

bool untouched_calls_find(uint8_t *is_untouched, uint8_t *frees_late,
                          const struct timeline *timeline, struct site_table *sites,
                          const struct categories *categories, const struct phases *phases,
                          const uint32_t *next_run, struct error *err)
{
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .phases = phases,
                            .next_run = next_run,
                            .budget = timeline->snapshot->budget};
    bool ok = make_room(&finder, err);
    for (size_t n = 0; ok && n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        ok = categories->of_lifetime[i] != CATEGORY_ACTIVATION || add(&finder, i, err);
    }
    ok = ok && flag_all(&finder, is_untouched, frees_late, err);
    vec_free(finder.items, finder.capacity, sizeof(*finder.items), finder.budget);
    vec_free(finder.calls, finder.call_capacity, sizeof(*finder.calls), finder.budget);
    return ok;
}
