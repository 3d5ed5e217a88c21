#include "analysis/findings/failed_pass.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    bool *is_trained; /* by frame: a line that calls the model before a backward pass */
    size_t capacity;
    bool any_trained;
};

/* The line from which the model was called; false if the stack has none. */
static bool call_of(const struct finder *finder, stack_id stack, struct site *call, frame_id *frame)
{
    struct error err; /* cannot fail: the categories have looked the stack up */
    if (stack == STACK_NONE || !site_of(finder->set->sites, stack, call, &err))
        return false;
    site_at_model_call(finder->set->sites, stack, call);
    return site_frame(finder->set->sites, stack, call, frame);
}

static uint32_t alloc_of(const struct finder *finder, size_t index)
{
    return finder->set->timeline->lifetimes[index].alloc;
}

static enum phase phase_at(const struct finder *finder, uint32_t item)
{
    uint32_t run = phases_run_of(finder->phases, item);
    return run == NO_RUN ? PHASE_UNKNOWN : (enum phase)finder->phases->runs[run].phase;
}

/* True for an activation that a forward pass makes, unless a decorator has turned autograd off. */
static bool is_of_pass(const struct finder *finder, size_t index)
{
    struct error err; /* cannot fail: the categories have looked the stack up */
    const struct stack_facts *facts = site_stack_facts(
        finder->set->sites, finder->set->timeline->trace->stack[alloc_of(finder, index)], &err);
    return finder->set->categories->of_lifetime[index] == CATEGORY_ACTIVATION && facts &&
           facts->grad_mode < GRAD_PROBABLY_OFF &&
           phase_at(finder, alloc_of(finder, index)) == PHASE_FORWARD;
}

/* Finds the lines that call the model before a backward pass. Each stack is searched once, at the
 * first activation that a backward pass frees. */
static bool find_trained(struct finder *finder, bool *is_seen)
{
    const struct timeline *timeline = finder->set->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        stack_id stack = timeline->trace->stack[alloc_of(finder, i)];
        struct site call;
        frame_id frame;
        if (stack == STACK_NONE || is_seen[stack] || !is_of_pass(finder, i) ||
            phase_at(finder, lifetime_end(&timeline->lifetimes[i])) != PHASE_BACKWARD)
            continue;
        is_seen[stack] = true;
        if (call_of(finder, stack, &call, &frame)) {
            finder->is_trained[frame] = true;
            finder->any_trained = true;
        }
    }
    return finder->any_trained;
}

/* The line that called the model for a live activation; false if a backward pass followed a call
 * from there, or if it is not known. */
static bool untrained_call(const struct finder *finder, const struct live *live, struct site *call,
                           frame_id *frame)
{
    return live->in_trace && is_of_pass(finder, live->index) &&
           call_of(finder, live->stack, call, frame) && !finder->is_trained[*frame];
}

/* Sums up what calls from one line keep: that of the last live allocation that was made after item
 * `first`. */
static void sum_up(const struct finder *finder, uint32_t first, struct failed_pass *pass)
{
    const struct live_set *set = finder->set;
    struct site call;
    frame_id wanted = NO_FRAME, frame;
    for (size_t i = set->count; i-- > 0 && wanted == NO_FRAME;)
        if (untrained_call(finder, &set->items[i], &call, &frame) &&
            alloc_of(finder, set->items[i].index) >= first) {
            *pass = (struct failed_pass){0, set->items[i].stack, call};
            wanted = frame;
        }
    for (size_t i = 0; i < set->count && wanted != NO_FRAME; i++)
        if (untrained_call(finder, &set->items[i], &call, &frame) && frame == wanted)
            pass->bytes += (int64_t)set->items[i].size;
}

/* Sets *fails if a request fails after the moment and before another pass begins. *first is where
 * the pass of the moment begins. */
static bool pass_fails(const struct finder *finder, int64_t item, uint32_t *first,
                       struct error *err, bool *fails)
{
    struct failures failures;
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(finder->phases, (uint32_t)item);
    *fails = false;
    if (run == NO_RUN || finder->phases->runs[run].phase != PHASE_FORWARD)
        return true;
    if (!failures_find(&failures, finder->set->timeline, err))
        return false;
    size_t items = finder->set->timeline->trace->count;
    uint32_t end = phases_run_end(finder->phases, run, items);
    *first = finder->phases->runs[run].first;
    *fails = failures_between(&failures, (uint32_t)item, end);
    failures_release(&failures);
    return true;
}

bool failed_pass_find(struct failed_pass *pass, const struct live_set *set,
                      const struct phases *phases, int64_t item, struct error *err)
{
    struct finder finder = {.set = set, .phases = phases};
    struct symbols *symbols = site_table_symbols(set->sites);
    struct budget *budget = set->timeline->snapshot->budget;
    size_t stacks = symbols_stack_count(symbols), frames = symbols_frame_count(symbols);
    size_t seen_capacity = 0;
    bool *is_seen = NULL, fails;
    uint32_t first = 0;
    *pass = (struct failed_pass){0};
    if (!pass_fails(&finder, item, &first, err, &fails))
        return false;
    if (!fails)
        return true;
    bool ok = vec_reserve(is_seen, seen_capacity, stacks + 1, budget, err) &&
              vec_reserve(finder.is_trained, finder.capacity, frames + 1, budget, err);
    if (ok) {
        memset(is_seen, 0, (stacks + 1) * sizeof(*is_seen));
        memset(finder.is_trained, 0, (frames + 1) * sizeof(*finder.is_trained));
        if (find_trained(&finder, is_seen))
            sum_up(&finder, first, pass);
    }
    vec_free(is_seen, seen_capacity, sizeof(*is_seen), budget);
    vec_free(finder.is_trained, finder.capacity, sizeof(*finder.is_trained), budget);
    return ok;
}

/* Keeps the failures up to an item after which the program began anew: the next allocation is that
 * of a batch. cuDNN also goes on with another algorithm. */
static void keep_given_up(struct failures *failures, const struct live_set *set, int64_t item)
{
    const struct timeline *timeline = set->timeline;
    size_t kept = 0;
    for (size_t i = 0; i < failures->count; i++) {
        size_t next = births_from(timeline, failures->items[i]);
        if (next < timeline->lifetime_count && timeline->lifetimes[next].alloc <= item &&
            set->categories->of_lifetime[next] == CATEGORY_INPUT)
            failures->items[kept++] = failures->items[i];
    }
    failures->count = kept;
}

static uint32_t pass_of(const struct phases *phases, uint32_t item)
{
    uint32_t run = phases_run_of(phases, item);
    return run == NO_RUN ? NO_RUN : phases->runs[run].pass;
}

bool failed_attempt_find(int64_t *bytes, const struct live_set *set, const struct phases *phases,
                         int64_t item, struct error *err)
{
    struct failures failures;
    *bytes = 0;
    if (!failures_find(&failures, set->timeline, err))
        return false;
    keep_given_up(&failures, set, item);
    for (size_t i = 0; failures.count > 0 && i < set->count; i++) {
        const struct live *live = &set->items[i];
        if (!live->in_trace || set->categories->of_lifetime[live->index] != CATEGORY_ACTIVATION)
            continue;
        uint32_t alloc = set->timeline->lifetimes[live->index].alloc;
        size_t next = bisect_until(failures.items, sizeof(*failures.items), failures.count, alloc);
        if (next < failures.count &&
            pass_of(phases, failures.items[next]) == pass_of(phases, alloc))
            *bytes += (int64_t)live->size;
    }
    failures_release(&failures);
    return true;
}
