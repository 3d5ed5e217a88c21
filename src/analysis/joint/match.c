#include "analysis/joint/match.h"

#include <stdlib.h>

#include "analysis/joint/internal.h"
#include "base/bisect.h"
#include "base/units.h"
#include "model/device.h"

#define NEAR        64   /* allocations by which threads may swap places */
#define DIFFERENCES 4096 /* of times that are looked at */
#define SAME_RUN_US 200  /* the median of how much differences of times vary */
#define SURE_US     20   /* the same if the clocks differ: another run may be as regular as 200 */
#define UNIX_US     INT64_C(1000000000000000) /* times from here on are since 1970 */
#define CLOCKS_US   INT64_C(1000000)          /* by which clocks since 1970 may differ */

/* The inputs, and what was found for one place. */
struct matcher {
    struct joint_items snapshot, trace;
    uint32_t *of_trace; /* by trace item: snapshot item, or JOINT_NONE */
    uint8_t *used;      /* by snapshot item */
    size_t of_trace_capacity, used_capacity;
    uint64_t inside, matched;
    int64_t offset_us, deviation_us, spread_us;
};

static bool list_items(struct matcher *matcher, const struct profiled *profiled,
                       const struct timeline *timeline, struct budget *budget, struct error *err)
{
    const struct trace *trace = timeline->trace;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (!vec_push(matcher->snapshot.items, matcher->snapshot.count, matcher->snapshot.capacity,
                      budget, err,
                      (struct joint_item){trace_addr(trace, item), trace_size(trace, item),
                                          trace_time(trace, item), (uint32_t)i}))
            return false;
    }
    for (size_t i = 0; i < profiled->count && i < JOINT_NONE; i++) {
        const struct profiled_allocation *row = &profiled->items[i];
        if (row->device == timeline->device &&
            !vec_push(matcher->trace.items, matcher->trace.count, matcher->trace.capacity, budget,
                      err, (struct joint_item){row->addr, row->bytes, row->time_us, (uint32_t)i}))
            return false;
    }
    if (!vec_reserve(matcher->of_trace, matcher->of_trace_capacity, matcher->trace.count + 1,
                     budget, err) ||
        !vec_reserve(matcher->used, matcher->used_capacity, matcher->snapshot.count + 1, budget,
                     err))
        return false;
    for (size_t i = 0; i < matcher->trace.count; i++)
        matcher->of_trace[i] = JOINT_NONE;
    return true;
}

/* The item nearest to `expected` that fits and is not used yet, or JOINT_NONE. */
static uint32_t nearest(const struct matcher *matcher, const struct joint_item *trace,
                        int64_t expected)
{
    int64_t count = (int64_t)matcher->snapshot.count;
    for (int64_t step = 0; step <= 2 * NEAR; step++) {
        int64_t at = step % 2 ? expected + (step + 1) / 2 : expected - step / 2;
        if (at >= 0 && at < count && !matcher->used[at] &&
            joint_fits(&matcher->snapshot.items[at], trace))
            return (uint32_t)at;
    }
    return JOINT_NONE;
}

/* Follows both sequences from a place on. */
static void follow(struct matcher *matcher, int64_t place)
{
    matcher->inside = matcher->matched = 0;
    for (size_t i = 0; i < matcher->snapshot.count; i++)
        matcher->used[i] = 0;
    for (size_t i = 0; i < matcher->trace.count; i++) {
        int64_t expected = (int64_t)i + place;
        uint32_t found = nearest(matcher, &matcher->trace.items[i], expected);
        matcher->of_trace[i] = found;
        matcher->inside +=
            found != JOINT_NONE || (expected >= 0 && expected < (int64_t)matcher->snapshot.count);
        if (found == JOINT_NONE)
            continue;
        matcher->matched++;
        matcher->used[found] = 1;
        place = (int64_t)found - (int64_t)i;
    }
}

/* How much the differences of times vary. */
static void measure(struct matcher *matcher)
{
    int64_t differences[DIFFERENCES];
    size_t count = 0, step = (size_t)(matcher->matched / DIFFERENCES) + 1, seen = 0;
    for (size_t i = 0; i < matcher->trace.count && count < DIFFERENCES; i++) {
        uint32_t found = matcher->of_trace[i];
        if (found != JOINT_NONE && seen++ % step == 0)
            differences[count++] =
                joint_apart(&matcher->snapshot.items[found], &matcher->trace.items[i]);
    }
    matcher->offset_us = matcher->deviation_us = matcher->spread_us = 0;
    if (count == 0)
        return;
    qsort(differences, count, sizeof(*differences), compare_signed);
    matcher->offset_us = differences[count / 2];
    for (size_t i = 0; i < count; i++)
        differences[i] = llabs(differences[i] - matcher->offset_us);
    qsort(differences, count, sizeof(*differences), compare_signed);
    matcher->deviation_us = differences[count / 2];
    matcher->spread_us = differences[count * 9 / 10];
}

/* Among the places where about as many match as anywhere, the one where times vary least. */
static void choose_place(struct matcher *matcher, const struct joint_places *places, bool has_times)
{
    uint64_t most = 0, matched[PLACES_MOST];
    int64_t deviation[PLACES_MOST];
    size_t best = 0;
    for (size_t i = 0; i < places->count; i++) {
        follow(matcher, places->items[i]);
        if (has_times)
            measure(matcher);
        matched[i] = matcher->matched;
        deviation[i] = has_times ? matcher->deviation_us : 0;
        most = matched[i] > most ? matched[i] : most;
    }
    while (best < places->count && matched[best] < most - most / 10)
        best++;
    for (size_t i = best; i < places->count; i++)
        if (matched[i] >= most - most / 10 &&
            (deviation[i] < deviation[best] ||
             (deviation[i] == deviation[best] && matched[i] > matched[best])))
            best = i;
    if (best < places->count) {
        follow(matcher, places->items[best]);
        if (has_times)
            measure(matcher);
    }
}

static bool check(const struct matcher *matcher, uint32_t device, bool has_times, struct error *err)
{
    char matched[UNITS_TEXT_SIZE], inside[UNITS_TEXT_SIZE];
    units_count(matched, matcher->matched);
    units_count(inside, matcher->inside ? matcher->inside : matcher->trace.count);
    if (matcher->matched == 0 || matcher->matched < matcher->inside - matcher->inside / 2)
        return error_set(
            err, STATUS_BAD_INPUT,
            "the profiler trace is of another run, or of another part of this one: only %s of its "
            "%s allocations on %s are in the snapshot",
            matched, inside, DEVICE_WORDS(device));
    int64_t apart = llabs(matcher->offset_us);
    bool same_clock = matcher->snapshot.items[0].time_us < UNIX_US ||
                      matcher->trace.items[0].time_us < UNIX_US || apart <= CLOCKS_US;
    if (!has_times || matcher->deviation_us <= (same_clock ? SAME_RUN_US : SURE_US))
        return true;
    return error_set(err, STATUS_BAD_INPUT,
                     "the profiler trace is of another run: %s of its allocations have the "
                     "addresses of the snapshot's, but not their times (the clocks are %.3f s "
                     "apart, and half of the times are off by more than %.1f ms)",
                     matched, (double)apart / 1e6, (double)matcher->deviation_us / 1e3);
}

static void keep(struct joint *joint, const struct matcher *matcher)
{
    for (size_t i = 0; i < matcher->snapshot.count; i++)
        joint->allocation[i] = JOINT_NONE;
    for (size_t i = 0; i < matcher->trace.count; i++)
        if (matcher->of_trace[i] != JOINT_NONE)
            joint->allocation[matcher->of_trace[i]] = matcher->trace.items[i].index;
    joint->profiled_count = matcher->trace.count;
    joint->inside = matcher->inside;
    joint->matched = matcher->matched;
    joint->offset_us = matcher->offset_us;
    joint->spread_us = matcher->spread_us;
}

static bool match(struct joint *joint, struct matcher *matcher, const struct timeline *timeline,
                  struct error *err)
{
    struct joint_places places;
    if (!list_items(matcher, joint->profiled, timeline, joint->budget, err) ||
        !vec_reserve(joint->allocation, joint->capacity, matcher->snapshot.count + 1, joint->budget,
                     err) ||
        !joint_find_places(&places, &matcher->snapshot, &matcher->trace, joint->budget, err))
        return false;
    if (matcher->snapshot.count > 0 && matcher->trace.count > 0) {
        joint->by_time = matcher->snapshot.items[0].time_us != TIME_NONE;
        choose_place(matcher, &places, joint->by_time);
        if (!check(matcher, timeline->device, joint->by_time, err))
            return false;
    }
    keep(joint, matcher);
    return true;
}

bool joint_make(struct joint *joint, const struct profiled *profiled,
                const struct timeline *timeline, struct error *err)
{
    struct matcher matcher = {0};
    struct budget *budget = timeline->snapshot->budget;
    *joint = (struct joint){.profiled = profiled, .budget = budget};
    bool ok = match(joint, &matcher, timeline, err);
    vec_free(matcher.snapshot.items, matcher.snapshot.capacity, sizeof(*matcher.snapshot.items),
             budget);
    vec_free(matcher.trace.items, matcher.trace.capacity, sizeof(*matcher.trace.items), budget);
    vec_free(matcher.of_trace, matcher.of_trace_capacity, sizeof(*matcher.of_trace), budget);
    vec_free(matcher.used, matcher.used_capacity, sizeof(*matcher.used), budget);
    if (!ok)
        joint_release(joint);
    return ok;
}

void joint_release(struct joint *joint)
{
    if (joint->budget)
        vec_free(joint->allocation, joint->capacity, sizeof(*joint->allocation), joint->budget);
    *joint = (struct joint){0};
}
