#include "model/replay.h"

#include "model/device.h"
#include "model/sums.h"

bool replay_overflow(const struct replay *replay, struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT, "the sizes on %s add up to 2^62 bytes and more",
                     DEVICE_WORDS(replay->timeline->device));
}

bool replay_add_preexisting(struct replay *replay, const struct preexisting *preexisting,
                            struct error *err)
{
    struct timeline *timeline = replay->timeline;
    if (timeline->preexisting_count == UINT32_MAX)
        return error_set(err, STATUS_LIMIT, "more than %zu allocations from before the trace",
                         timeline->preexisting_count);
    return vec_push(timeline->preexisting, timeline->preexisting_count,
                    timeline->preexisting_capacity, replay->budget, err, *preexisting);
}

static inline bool rise(struct running *curve, uint64_t size, size_t item)
{
    if (!sum_add(&curve->now, size))
        return false;
    if (curve->now > curve->high) {
        curve->high = curve->now;
        curve->high_item = (int64_t)item;
    }
    return true;
}

static inline bool fall(struct running *curve, uint64_t size)
{
    if (!sum_subtract(&curve->now, size))
        return false;
    if (curve->now < curve->low)
        curve->low = curve->now;
    return true;
}

static inline bool on_alloc(struct replay *replay, size_t item, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    uint64_t size = trace_size(replay->trace, item);
    if (!rise(&replay->active, size, item) || !rise(&replay->allocated, size, item))
        return replay_overflow(replay, err);
    if (replay->active.high_item == (int64_t)item)
        replay->reserved_at_active_peak = replay->reserved.now;

    struct addrmap_slot *slot;
    if (!addrmap_put(&replay->live, trace_addr(replay->trace, item), &slot, err))
        return false;
    timeline->flaws.reallocated += slot->tag & IN_ACTIVE;
    slot->size = size;
    slot->value = (uint32_t)timeline->lifetime_count;
    slot->tag = IN_ACTIVE | IN_ALLOCATED;
    return vec_push(timeline->lifetimes, timeline->lifetime_count, timeline->lifetime_capacity,
                    replay->budget, err,
                    (struct lifetime){(uint32_t)item, EVENT_NEVER, EVENT_NEVER});
}

/* A free_requested without an alloc. `item` may be EVENT_NEVER: after the range. */
static bool stray_request(struct replay *replay, uint64_t addr, uint64_t size, uint32_t item,
                          struct error *err)
{
    struct preexisting preexisting = {.origin = ORIGIN_FREED,
                                      .addr = addr,
                                      .size = size,
                                      .in_allocated = true,
                                      .free_requested = item,
                                      .free_completed = EVENT_NEVER};
    struct addrmap_slot *slot;
    if (!addrmap_put(&replay->live, addr, &slot, err))
        return false;
    if (!(slot->tag & IN_ACTIVE)) {
        slot->size = size;
        slot->value = (uint32_t)replay->timeline->preexisting_count;
        slot->tag = IS_PREEXISTING | IS_PENDING;
    }
    return replay_add_preexisting(replay, &preexisting, err);
}

/* A free_completed without an alloc: the second half of a stray request, if there was one. */
static bool stray_completion(struct replay *replay, uint64_t addr, uint64_t size, uint32_t item,
                             struct error *err)
{
    struct addrmap_slot *slot = addrmap_find(&replay->live, addr);
    if (slot && slot->tag & IS_PENDING) {
        struct preexisting *requested = &replay->timeline->preexisting[slot->value];
        addrmap_remove(&replay->live, slot);
        if (requested->size == size) {
            requested->in_active = true;
            requested->free_completed = item;
            return true;
        }
    }
    struct preexisting preexisting = {.origin = ORIGIN_FREED,
                                      .addr = addr,
                                      .size = size,
                                      .in_active = true,
                                      .free_requested = EVENT_NEVER,
                                      .free_completed = item};
    return replay_add_preexisting(replay, &preexisting, err);
}

/* Removes the address from one of the curves, and from the table once it is in neither. */
static inline void leave(struct replay *replay, struct addrmap_slot *slot, unsigned curve,
                         uint64_t size)
{
    replay->timeline->flaws.size_changed += slot->size != size;
    slot->tag &= ~curve;
    if (!(slot->tag & (IN_ACTIVE | IN_ALLOCATED)))
        addrmap_remove(&replay->live, slot);
}

static inline bool on_request(struct replay *replay, size_t item, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    uint64_t addr = trace_addr(replay->trace, item), size = trace_size(replay->trace, item);
    if (!fall(&replay->allocated, size))
        return replay_overflow(replay, err);
    struct addrmap_slot *slot = addrmap_find(&replay->live, addr);
    if (!slot || !(slot->tag & IN_ALLOCATED))
        return stray_request(replay, addr, size, (uint32_t)item, err);
    if (slot->tag & IS_PREEXISTING)
        timeline->preexisting[slot->value].free_requested = (uint32_t)item;
    else
        timeline->lifetimes[slot->value].free_requested = (uint32_t)item;
    leave(replay, slot, IN_ALLOCATED, size);
    return true;
}

static inline bool on_completion(struct replay *replay, size_t item, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    uint64_t addr = trace_addr(replay->trace, item), size = trace_size(replay->trace, item);
    if (!fall(&replay->active, size))
        return replay_overflow(replay, err);
    struct addrmap_slot *slot = addrmap_find(&replay->live, addr);
    if (!slot || !(slot->tag & IN_ACTIVE))
        return stray_completion(replay, addr, size, (uint32_t)item, err);
    if (slot->tag & IS_PREEXISTING)
        timeline->preexisting[slot->value].free_completed = (uint32_t)item;
    else
        timeline->lifetimes[slot->value].free_completed = (uint32_t)item;
    leave(replay, slot, IN_ACTIVE, size);
    return true;
}

/* True if that kind of free happened before the range. */
static bool was_freed(const struct edge_allocation *held, uint8_t action)
{
    return action == ACTION_FREE_COMPLETED ? held->free_completed : held->free_requested;
}

/* Adds the allocations from before the range that still count when it begins. */
static bool hold_edge(struct replay *replay, struct error *err)
{
    const struct trace *trace = replay->trace;
    const struct window_edge *edge = &trace->edge;
    for (size_t i = 0; i < edge->held_count; i++) {
        const struct edge_allocation *held = &edge->held[i];
        struct preexisting preexisting = {.origin = ORIGIN_EDGE,
                                          .addr = held->addr,
                                          .size = held->size,
                                          .stack = held->stack,
                                          .in_active = !was_freed(held, trace->completion),
                                          .in_allocated = !was_freed(held, trace->request),
                                          .free_requested = EVENT_NEVER,
                                          .free_completed = EVENT_NEVER,
                                          .edge_event = held->event};
        uint32_t index = (uint32_t)replay->timeline->preexisting_count;
        if (!preexisting.in_active && !preexisting.in_allocated)
            continue;
        if (!replay_add_preexisting(replay, &preexisting, err))
            return false;
        if (held->shadowed)
            continue;
        struct addrmap_slot *slot;
        if (!addrmap_put(&replay->live, held->addr, &slot, err))
            return false;
        slot->size = held->size;
        slot->value = index;
        slot->tag = IS_PREEXISTING | (preexisting.in_active ? IN_ACTIVE : 0) |
                    (preexisting.in_allocated ? IN_ALLOCATED : 0);
    }
    return true;
}

static bool free_later(struct replay *replay, struct error *err)
{
    const struct window_edge *edge = &replay->trace->edge;
    for (size_t i = 0; i < edge->later_free_count; i++) {
        const struct edge_free *later = &edge->later_frees[i];
        if ((later->action == replay->trace->request &&
             !stray_request(replay, later->addr, later->size, EVENT_NEVER, err)) ||
            (later->action == replay->trace->completion &&
             !stray_completion(replay, later->addr, later->size, EVENT_NEVER, err)))
            return false;
    }
    return true;
}

static inline bool on_free(struct replay *replay, size_t item, struct error *err)
{
    uint8_t action = replay->trace->action[item];
    return (action != replay->trace->request || on_request(replay, item, err)) &&
           (action != replay->trace->completion || on_completion(replay, item, err));
}

bool replay_until(struct replay *replay, size_t end, struct error *err)
{
    const struct trace *trace = replay->trace;
    bool has_lifetimes = trace_has_lifetimes(trace);
    for (size_t i = replay->next; i < end; i++) {
        bool ok = true;
        switch (trace->action[i]) {
        case ACTION_ALLOC:
            ok = !has_lifetimes || on_alloc(replay, i, err);
            break;
        case ACTION_FREE_REQUESTED:
        case ACTION_FREE_COMPLETED:
            ok = on_free(replay, i, err);
            break;
        case ACTION_SEGMENT_ALLOC:
        case ACTION_SEGMENT_MAP:
            ok = rise(&replay->reserved, trace_size(trace, i), i) || replay_overflow(replay, err);
            if (replay->reserved.high_item == (int64_t)i)
                replay->active_at_reserved_peak = replay->active.now;
            break;
        case ACTION_SEGMENT_FREE:
        case ACTION_SEGMENT_UNMAP:
            ok = fall(&replay->reserved, trace_size(trace, i)) || replay_overflow(replay, err);
            break;
        default:
            ok = trace->action[i] != replay->annotate || replay_note(replay, i, err);
            break;
        }
        if (!ok)
            return false;
    }
    replay->next = end;
    return true;
}

bool replay_events(struct replay *replay, struct error *err)
{
    const struct trace *trace = replay->trace;
    bool has_lifetimes = trace_has_lifetimes(trace);
    return (!has_lifetimes || hold_edge(replay, err)) && replay_edge_notes(replay, err) &&
           replay_until(replay, trace->count, err) && (!has_lifetimes || free_later(replay, err));
}
