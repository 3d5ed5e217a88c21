#include "model/timeline.h"

#include <stdlib.h>

#include "model/replay.h"
#include "model/sums.h"

/* A timeline, with an empty trace for a device that has none in the snapshot. */
struct storage {
    struct timeline timeline; /* must be first: callers hold a pointer to it */
    struct trace empty;
};

static bool count_actions(struct timeline *timeline, struct error *err)
{
    const struct trace *trace = timeline->trace;
    for (size_t i = 0; i < trace->count; i++)
        timeline->by_action[trace->action[i]]++;
    uint64_t births = timeline->by_action[ACTION_ALLOC];
    return vec_reserve(timeline->lifetimes, timeline->lifetime_capacity, births,
                       timeline->snapshot->budget, err);
}

/* Adds the baseline to a relative curve. Fails if a value of the curve would exceed 64 bits. */
static bool place(const struct running *relative, int64_t baseline, struct curve *curve)
{
    curve->baseline_bytes = curve->peak_bytes = curve->end_bytes = baseline;
    curve->peak_event = relative->high_item;
    int64_t lowest = baseline;
    return sum_add_signed(&curve->peak_bytes, relative->high) &&
           sum_add_signed(&curve->end_bytes, relative->now) &&
           sum_add_signed(&lowest, relative->low);
}

static bool finish_active_and_allocated(struct replay *replay)
{
    struct timeline *timeline = replay->timeline;
    const struct window_edge *edge = &timeline->trace->edge;
    int64_t active = edge->active_offset, allocated = edge->allocated_offset;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if ((preexisting->in_active && !sum_add(&active, preexisting->size)) ||
            (preexisting->in_allocated && !sum_add(&allocated, preexisting->size)))
            return false;
    }
    if (!place(&replay->active, active, &timeline->active) ||
        !place(&replay->allocated, allocated, &timeline->allocated))
        return false;

    struct flaws *flaws = &timeline->flaws;
    flaws->reallocated += edge->reallocated;
    flaws->size_changed += edge->size_changed;
    flaws->active_minus_dump_bytes = timeline->active.end_bytes;
    return sum_add_signed(&flaws->active_minus_dump_bytes, edge->active_after) &&
           sum_subtract(&flaws->active_minus_dump_bytes, timeline->state.requested_bytes);
}

static bool finish_reserved(struct replay *replay)
{
    struct timeline *timeline = replay->timeline;
    struct curve curve;
    int64_t start, at_peak;
    if (__builtin_sub_overflow((int64_t)timeline->state.reserved_bytes,
                               timeline->trace->edge.reserved_after, &start) ||
        __builtin_sub_overflow(start, replay->reserved.now, &start) ||
        !place(&replay->reserved, start, &curve))
        return false;
    at_peak = start;
    if (!sum_add_signed(&at_peak, replay->reserved_at_active_peak))
        return false;
    timeline->reserved =
        (struct reserved_curve){.start_bytes = start,
                                .peak_bytes = curve.peak_bytes,
                                .end_bytes = curve.end_bytes,
                                .at_active_peak_bytes = at_peak,
                                .lowest_bytes = start + replay->reserved.low,
                                .peak_event = curve.peak_event,
                                .active_at_peak_bytes = timeline->active.baseline_bytes};
    return sum_add_signed(&timeline->reserved.active_at_peak_bytes,
                          replay->active_at_reserved_peak);
}

static bool build(struct replay *replay, struct error *err)
{
    return count_actions(replay->timeline, err) && replay_events(replay, err) &&
           replay_dump(replay, err) &&
           ((finish_active_and_allocated(replay) && finish_reserved(replay)) ||
            replay_overflow(replay, err));
}

struct timeline *timeline_build(const struct snapshot *snapshot, uint32_t device, struct error *err)
{
    struct storage *storage = calloc(1, sizeof(*storage));
    if (!storage) {
        error_out_of_memory(err);
        return NULL;
    }
    struct timeline *timeline = &storage->timeline;
    storage->empty.device = device;
    timeline->snapshot = snapshot;
    timeline->device = device;
    timeline->trace = device < snapshot->trace_count ? &snapshot->traces[device] : &storage->empty;

    struct replay replay = {.timeline = timeline,
                            .trace = timeline->trace,
                            .active.high_item = -1,
                            .allocated.high_item = -1,
                            .reserved.high_item = -1};
    addrmap_init(&replay.live, snapshot->budget);
    bool ok = build(&replay, err);
    addrmap_release(&replay.live);
    if (!ok) {
        timeline_destroy(timeline);
        return NULL;
    }
    return timeline;
}

void timeline_destroy(struct timeline *timeline)
{
    if (!timeline)
        return;
    struct budget *budget = timeline->snapshot->budget;
    vec_free(timeline->lifetimes, timeline->lifetime_capacity, sizeof(*timeline->lifetimes),
             budget);
    vec_free(timeline->preexisting, timeline->preexisting_capacity, sizeof(*timeline->preexisting),
             budget);
    free((struct storage *)(void *)timeline);
}
