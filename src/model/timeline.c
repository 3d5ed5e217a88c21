#include "model/timeline.h"

#include <stdlib.h>

#include "model/ahead.h"
#include "model/replay.h"
#include "model/sums.h"

/* A timeline, with an empty trace for a device that has none in the snapshot. */
struct storage {
    struct timeline timeline; /* must be first: callers hold a pointer to it */
    struct trace empty;
};

/* Counts the events that were not replayed ahead, and makes room for all lifetimes. */
static bool count_actions(struct replay *replay, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    replay_count(replay, replay->trace->count);
    uint64_t births = trace_has_lifetimes(replay->trace) ? timeline->by_action[ACTION_ALLOC] : 0;
    return vec_reserve(timeline->lifetimes, timeline->lifetime_capacity, births, replay->budget,
                       err);
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

/* The bytes that the dump has in the active curve. */
static uint64_t dump_active_bytes(const struct timeline *timeline)
{
    bool until_request = timeline->trace->completion == ACTION_FREE_REQUESTED;
    return timeline->state.requested_bytes - (until_request ? timeline->pending_bytes : 0);
}

static bool compare_with_dump(struct timeline *timeline)
{
    const struct window_edge *edge = &timeline->trace->edge;
    int64_t *difference = &timeline->flaws.active_minus_dump_bytes;
    *difference = 0;
    if (timeline->snapshot->profile.is_timeline ||      /* has no dump */
        (edge->present && timeline->trace->unrecorded)) /* what follows the range is not known */
        return true;
    *difference = timeline->active.end_bytes;
    return sum_add_signed(difference, edge->active_after) &&
           sum_subtract(difference, dump_active_bytes(timeline));
}

static bool finish_active_and_allocated(struct replay *replay)
{
    struct timeline *timeline = replay->timeline;
    const struct trace *trace = timeline->trace;
    const struct window_edge *edge = &trace->edge;
    int64_t active = edge->active_offset, allocated = edge->allocated_offset;
    if (trace->completion != ACTION_FREE_COMPLETED)
        active = trace_has_lifetimes(trace) ? allocated : 0;
    if (trace->request != ACTION_FREE_REQUESTED)
        allocated = active;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if ((preexisting->in_active && !sum_add(&active, preexisting->size)) ||
            (preexisting->in_allocated && !sum_add(&allocated, preexisting->size)))
            return false;
    }
    if (!place(&replay->active, active, &timeline->active) ||
        !place(&replay->allocated, allocated, &timeline->allocated))
        return false;
    if (!trace_has_lifetimes(
            trace)) /* the curves are those of the dump, not of an earlier moment */
        timeline->active.peak_event = timeline->allocated.peak_event = (int64_t)trace->count - 1;

    struct flaws *flaws = &timeline->flaws;
    flaws->reallocated += trace->unrecorded ? 0 : edge->reallocated;
    flaws->size_changed += edge->size_changed;
    return compare_with_dump(timeline);
}

static bool finish_reserved(struct replay *replay)
{
    struct timeline *timeline = replay->timeline;
    struct curve curve;
    int64_t start = (int64_t)timeline->state.reserved_bytes, at_peak;
    if (!sum_add_signed(&start, -timeline->trace->edge.reserved_after) ||
        !sum_add_signed(&start, -replay->reserved.now) || !place(&replay->reserved, start, &curve))
        return false;
    at_peak = start;
    if (!sum_add_signed(&at_peak, trace_has_lifetimes(timeline->trace)
                                      ? replay->reserved_at_active_peak
                                      : replay->reserved.now))
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
    if (replay->trace->ahead)
        ahead_take(replay->trace->ahead, replay);
    return count_actions(replay, err) && replay_events(replay, err) && replay_dump(replay, err) &&
           replay_notes(replay, err) &&
           ((finish_active_and_allocated(replay) && finish_reserved(replay)) ||
            replay_overflow(replay, err));
}

static struct timeline *build_from(const struct snapshot *snapshot, const struct trace *trace,
                                   uint32_t device, struct error *err)
{
    struct storage *storage = calloc(1, sizeof(*storage));
    if (!storage) {
        error_out_of_memory(err);
        return NULL;
    }
    struct timeline *timeline = &storage->timeline;
    storage->empty = TRACE_OF_DEVICE(device);
    timeline->snapshot = snapshot;
    timeline->device = device;
    timeline->trace = trace ? trace : &storage->empty;

    struct replay replay;
    replay_init(&replay, timeline, timeline->trace, snapshot->budget);
    replay.annotate = snapshot_action(snapshot, ACTION_TEXT_ANNOTATE);
    bool ok = build(&replay, err);
    addrmap_release(&replay.live);
    vec_free(replay.early, replay.early_capacity, sizeof(*replay.early), snapshot->budget);
    if (!ok) {
        timeline_destroy(timeline);
        return NULL;
    }
    return timeline;
}

/* Computes the curves as if the file had all events that happened. */
static bool add_literal_curves(struct timeline *timeline, struct error *err)
{
    struct trace literal = *timeline->trace;
    literal.unrecorded = 0;
    literal.birth = ACTION_ALLOC;
    literal.request = ACTION_FREE_REQUESTED;
    literal.completion = ACTION_FREE_COMPLETED;
    struct timeline *of_file = build_from(timeline->snapshot, &literal, timeline->device, err);
    if (!of_file)
        return false;
    timeline->literal = (struct literal_curves){of_file->active, of_file->allocated,
                                                of_file->reserved.at_active_peak_bytes};
    timeline_destroy(of_file);
    return true;
}

struct timeline *timeline_build(const struct snapshot *snapshot, uint32_t device, struct error *err)
{
    struct timeline *timeline = build_from(snapshot, snapshot_trace(snapshot, device), device, err);
    if (!timeline)
        return NULL;
    if (timeline->trace->unrecorded && !snapshot->profile.is_profile) {
        if (!add_literal_curves(timeline, err)) {
            timeline_destroy(timeline);
            return NULL;
        }
    } else {
        timeline->literal = (struct literal_curves){timeline->active, timeline->allocated,
                                                    timeline->reserved.at_active_peak_bytes};
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
    vec_free(timeline->notes, timeline->note_capacity, sizeof(*timeline->notes), budget);
    vec_free(timeline->block_stacks, timeline->block_stack_capacity,
             sizeof(*timeline->block_stacks), budget);
    vec_free(timeline->preexisting, timeline->preexisting_capacity, sizeof(*timeline->preexisting),
             budget);
    free((struct storage *)(void *)timeline);
}

bool timeline_is_unused(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    return timeline->state.segments == 0 && trace->count == trace->file_events &&
           trace->count == timeline->by_action[ACTION_SNAPSHOT];
}
