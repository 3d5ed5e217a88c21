#include "analysis/growth/last_step.h"

#include "analysis/growth/kept_results.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "model/sums.h"

static stack_id stack_of(const struct timeline *timeline, size_t index)
{
    return timeline->trace->stack[timeline->lifetimes[index].alloc];
}

/* True for what the program may have computed from other tensors: then an autograd graph may be
 * behind it. What is made between two iterations looks like an input. */
static bool may_be_result(const struct categories *categories, size_t index)
{
    switch ((enum category)categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_TEMPORARY:
    case CATEGORY_UNKNOWN:
        return true;
    case CATEGORY_INPUT:
        return reason_of(categories->why_lifetime[index]) == REASON_BEFORE_FORWARD;
    default:
        return false;
    }
}

/* The first item of a forward pass from `since` on; EVENT_NEVER if there is none. */
static uint32_t forward_of(const struct phases *phases, uint32_t since)
{
    for (size_t i = phases_run_of(phases, since); i < phases->count; i++)
        if (phases->runs[i].phase == PHASE_FORWARD)
            return phases->runs[i].first;
    return EVENT_NEVER;
}

/* The last allocation of a call stack up to the peak. */
struct latest {
    uint32_t index; /* of the last one; EVENT_NEVER: none */
    bool is_set;    /* right after that, one of an earlier step was freed, as if the last one had
                       taken its place in a variable */
};

/* Fills latest[] and last->again. Returns the number of lifetimes that begin up to the peak. */
static size_t find_latest(struct last_step *last, struct latest *latest)
{
    const struct timeline *timeline = last->timeline;
    const struct lifetime *lifetimes = timeline->lifetimes;
    size_t end = 0;
    for (; end < timeline->lifetime_count && (int64_t)lifetimes[end].alloc <= last->peak; end++) {
        stack_id stack = stack_of(timeline, end);
        latest[stack].index = (uint32_t)end;
        if (lifetimes[end].alloc >= last->since && last->again[stack] == EVENT_NEVER)
            last->again[stack] = lifetimes[end].alloc;
    }
    for (size_t i = 0; i < end; i++) {
        struct latest *of = &latest[stack_of(timeline, i)];
        uint32_t alloc = lifetimes[of->index].alloc, freed = lifetime_end(&lifetimes[i]);
        uint32_t begin = alloc >= last->since ? last->since : last->before;
        of->is_set |= lifetimes[i].alloc < begin && freed > alloc &&
                      births_from(timeline, freed) - of->index <= RESULT_REPLACED;
    }
    return end;
}

static bool find_holders(struct last_step *last, const struct categories *categories,
                         const struct phases *phases, struct latest *latest, struct error *err)
{
    const struct timeline *timeline = last->timeline;
    uint32_t forward = forward_of(phases, last->since);
    size_t end = find_latest(last, latest);
    for (size_t i = births_from(timeline, last->before); i < end; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        stack_id stack = stack_of(timeline, i);
        if (lifetime->alloc >= forward || (int64_t)lifetime->free_completed <= last->peak ||
            stack == STACK_NONE || latest[stack].index != i || !latest[stack].is_set ||
            !may_be_result(categories, i))
            continue;
        if (!vec_push(last->holders, last->holder_count, last->holder_capacity, last->budget, err,
                      lifetime->alloc))
            return false;
    }
    return true;
}

bool last_step_find(struct last_step *last, const struct timeline *timeline,
                    const struct categories *categories, const struct phases *phases,
                    const struct step_ends *ends, uint32_t before, uint32_t since,
                    struct error *err)
{
    struct last_step made = {.timeline = timeline,
                             .ends = ends,
                             .peak = timeline->active.peak_event,
                             .before = before,
                             .since = since,
                             .budget = timeline->snapshot->budget};
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols) + 1;
    struct latest *latest = NULL;
    size_t latest_capacity = 0;
    bool ok = vec_reserve(made.again, made.again_capacity, stacks, made.budget, err) &&
              vec_reserve(latest, latest_capacity, stacks, made.budget, err);
    for (size_t i = 0; ok && i < stacks; i++) {
        made.again[i] = EVENT_NEVER;
        latest[i] = (struct latest){EVENT_NEVER, false};
    }
    ok = ok && find_holders(&made, categories, phases, latest, err);
    vec_free(latest, latest_capacity, sizeof(*latest), made.budget);
    if (ok)
        *last = made;
    else
        last_step_release(&made);
    return ok;
}

void last_step_release(struct last_step *last)
{
    vec_free(last->again, last->again_capacity, sizeof(*last->again), last->budget);
    vec_free(last->holders, last->holder_capacity, sizeof(*last->holders), last->budget);
    *last = (struct last_step){0};
}

static bool may_be_held(const struct last_step *last, const struct lifetime *lifetime)
{
    stack_id stack = last->timeline->trace->stack[lifetime->alloc];
    size_t next =
        bisect_less(last->holders, sizeof(*last->holders), last->holder_count, lifetime->alloc);
    return lifetime->alloc >= last->before &&
           (stack == STACK_NONE ||
            (next < last->holder_count && last->holders[next] < last->again[stack]));
}

enum which { OF_ANY_STEP, LEFT_OVER, OLDER };

/* The allocations of a group that sum_at_peak() sums up. */
struct count {
    enum which which;
    uint32_t item;             /* for OLDER: only what was made before this item */
    struct absences *absences; /* gets each of them, unless it is NULL */
};

static bool counts(const struct last_step *last, const struct lifetime *lifetime,
                   const struct count *count)
{
    switch (count->which) {
    case LEFT_OVER:
        return lifetime->alloc < last->since && !may_be_held(last, lifetime);
    case OLDER:
        return lifetime->alloc < count->item;
    case OF_ANY_STEP:
        break;
    }
    return true;
}

/* An allocation that the program could have freed at the end of the step that made it. */
static struct absence absence_after_step(const struct last_step *last, size_t lifetime)
{
    const struct step_ends *ends = last->ends;
    struct absence absence = absence_of_lifetime(last->timeline, lifetime);
    size_t end = bisect_less(ends->items, sizeof(ends->items[0]), ends->count, absence.from);
    if (end < ends->count)
        absence.from = ends->items[end] + 1;
    return absence;
}

static bool sum_at_peak(const struct last_step *last, const struct survivors *survivors,
                        size_t group, const struct count *count, int64_t *sum, struct error *err)
{
    const struct timeline *timeline = last->timeline;
    *sum = 0;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        if (!live->in_trace)
            continue;
        const struct lifetime *lifetime = &timeline->lifetimes[live->index];
        if ((int64_t)lifetime->alloc > last->peak ||
            (int64_t)lifetime->free_completed <= last->peak || !counts(last, lifetime, count))
            continue;
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        sum_add_capped(sum, size < INT64_MAX ? (int64_t)size : INT64_MAX);
        if (count->absences &&
            !absences_add(count->absences, absence_after_step(last, live->index), err))
            return false;
    }
    return true;
}

bool last_step_left_over(const struct last_step *last, const struct survivors *survivors,
                         size_t group, struct absences *absences, int64_t *bytes, struct error *err)
{
    struct count count = {.which = LEFT_OVER, .absences = absences};
    return sum_at_peak(last, survivors, group, &count, bytes, err);
}

bool last_step_older(const struct last_step *last, const struct survivors *survivors, size_t group,
                     uint32_t item, struct absences *absences, int64_t *bytes, struct error *err)
{
    struct count count = {.which = OLDER, .item = item, .absences = absences};
    return sum_at_peak(last, survivors, group, &count, bytes, err);
}

int64_t last_step_at_peak(const struct last_step *last, const struct survivors *survivors,
                          size_t group)
{
    struct count count = {.which = OF_ANY_STEP};
    int64_t bytes;
    struct error err; /* cannot fail: nothing is added */
    sum_at_peak(last, survivors, group, &count, &bytes, &err);
    return bytes;
}
