#include "analysis/phase/call_groups.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/hash.h"

#define LEAST_TURNS 3  /* times that the program goes back to an earlier line */
#define SIMILAR     2  /* largest ratio of two similar counts */
#define LEVELS      64 /* of calls outside of the model; deeper ones do not count */

/* A forward run, as a call of a model. */
struct call {
    size_t run;
    stack_id first, last; /* of its allocations */
    uint64_t code;        /* a hash of the Python frames of `first` */
    bool is_adjacent;     /* the program allocates nothing between the call before and this one */
};

struct grouper {
    const struct timeline *timeline;
    struct site_table *sites;
    struct call *calls;
    size_t count, capacity;
    uint64_t *codes; /* of all calls, ascending */
    size_t code_capacity;
    struct budget *budget;
};

enum order { ORDER_LATER, ORDER_SAME, ORDER_EARLIER };

/* The lines outside of every model that lead to the call of one, the outermost first. */
struct path {
    frame_id frames[LEVELS];
    size_t count;
};

static bool find_path(const struct grouper *grouper, stack_id id, struct path *path,
                      struct error *err)
{
    struct site site;
    struct stack stack = symbols_stack_at(site_table_symbols(grouper->sites), id);
    path->count = 0;
    if (!site_of(grouper->sites, id, &site, err))
        return false;
    site_at_model_call(grouper->sites, id, &site);
    for (size_t i = stack.count; site.user_frame != NO_FRAME && i-- > site.user_frame;)
        if (path->count < LEVELS && site_frame_kind(grouper->sites, stack.frames[i]) == FRAME_USER)
            path->frames[path->count++] = stack.frames[i];
    return true;
}

/* Where the program goes after one call, for the next one. */
static bool order_of(const struct grouper *grouper, stack_id before, stack_id after,
                     enum order *order, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(grouper->sites);
    struct path a, b;
    *order = ORDER_SAME;
    if (!find_path(grouper, before, &a, err) || !find_path(grouper, after, &b, err))
        return false;
    size_t level = 0;
    while (level < a.count && level < b.count && a.frames[level] == b.frames[level])
        level++;
    if (level == a.count || level == b.count)
        return true;
    struct frame x = symbols_frame_at(symbols, a.frames[level]);
    struct frame y = symbols_frame_at(symbols, b.frames[level]);
    if (x.file == y.file && x.name == y.name && x.line != y.line)
        *order = x.line < y.line ? ORDER_LATER : ORDER_EARLIER;
    return true;
}

static uint64_t code_of(const struct grouper *grouper, stack_id id)
{
    struct stack stack = symbols_stack_at(site_table_symbols(grouper->sites), id);
    uint64_t code = 0;
    for (size_t i = 0; i < stack.count; i++)
        if (site_frame_kind(grouper->sites, stack.frames[i]) != FRAME_NATIVE)
            code = hash_word(stack.frames[i], code);
    return code;
}

/* Collects the forward runs that allocate. */
static bool collect(struct grouper *grouper, const struct phases *phases, struct error *err)
{
    const struct timeline *timeline = grouper->timeline;
    size_t between = 0; /* allocations since the last call */
    for (size_t run = 0; run < phases->count; run++) {
        size_t first = births_from(timeline, phases->runs[run].first);
        size_t end = births_from(timeline, phases_run_end(phases, run, timeline->trace->count));
        if (first == end)
            continue;
        if (phases->runs[run].phase != PHASE_FORWARD) {
            between += end - first;
            continue;
        }
        struct call call = {
            .run = run,
            .first = timeline->trace->stack[timeline->lifetimes[first].alloc],
            .last = timeline->trace->stack[timeline->lifetimes[end - 1].alloc],
            .is_adjacent = between == 0,
        };
        call.code = code_of(grouper, call.first);
        between = 0;
        if (!vec_push(grouper->calls, grouper->count, grouper->capacity, grouper->budget, err,
                      call) ||
            !vec_reserve(grouper->codes, grouper->code_capacity, grouper->count, grouper->budget,
                         err))
            return false;
        grouper->codes[grouper->count - 1] = call.code;
    }
    if (grouper->count > 0)
        qsort(grouper->codes, grouper->count, sizeof(*grouper->codes), compare_64);
    return true;
}

static size_t times(const struct grouper *grouper, uint64_t code)
{
    const uint64_t *codes = grouper->codes;
    size_t size = sizeof(*codes), first = bisect_less_64(codes, size, grouper->count, code);
    size_t end =
        code == UINT64_MAX ? grouper->count : bisect_less_64(codes, size, grouper->count, code + 1);
    return end - first;
}

static bool are_similar(size_t a, size_t b)
{
    return a <= SIMILAR * b && b <= SIMILAR * a;
}

static bool join(const struct grouper *grouper, struct phases *phases, struct error *err)
{
    size_t turns = 0;
    for (size_t i = 1; i < grouper->count; i++) {
        const struct call *before = &grouper->calls[i - 1], *after = &grouper->calls[i];
        enum order order;
        if (!order_of(grouper, before->last, after->first, &order, err))
            return false;
        turns += order == ORDER_EARLIER;
        bool takes_turns = order == ORDER_LATER || before->code != after->code;
        phases->runs[before->run].joins_next =
            order != ORDER_EARLIER &&
            (after->is_adjacent || (takes_turns && are_similar(times(grouper, before->code),
                                                               times(grouper, after->code))));
    }
    for (size_t i = 0; turns < LEAST_TURNS && i < grouper->count; i++)
        phases->runs[grouper->calls[i].run].joins_next = false;
    return true;
}

bool call_groups_find(struct phases *phases, const struct timeline *timeline,
                      struct site_table *sites, struct error *err)
{
    struct grouper grouper = {
        .timeline = timeline, .sites = sites, .budget = timeline->snapshot->budget};
    if (!phases->has_stacks || !phases_have(phases, PHASE_FORWARD) ||
        phases_have(phases, PHASE_BACKWARD) || phases_have(phases, PHASE_OPTIMIZER))
        return true;
    bool ok = collect(&grouper, phases, err) && join(&grouper, phases, err);
    vec_free(grouper.calls, grouper.capacity, sizeof(*grouper.calls), grouper.budget);
    vec_free(grouper.codes, grouper.code_capacity, sizeof(*grouper.codes), grouper.budget);
    return ok;
}
