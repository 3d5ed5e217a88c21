#include <stdlib.h>

#include "base/bisect.h"
#include "model/live.h"
#include "model/replay.h"

static bool add(struct timeline *timeline, struct note note, struct error *err)
{
    return vec_push(timeline->notes, timeline->note_count, timeline->note_capacity,
                    timeline->snapshot->budget, err, note);
}

static bool add_early(struct replay *replay, struct early_note early, struct error *err)
{
    return vec_push(replay->early, replay->early_count, replay->early_capacity,
                    replay->timeline->snapshot->budget, err, early);
}

bool replay_note(struct replay *replay, size_t item, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    const struct event_extra *extra = &timeline->snapshot->extras[trace_extra(replay->trace, item)];
    uint64_t addr = trace_addr(replay->trace, item);
    uint64_t event = replay->trace->first_event + item;
    const struct addrmap_slot *slot = addrmap_find(&replay->live, addr);
    if (extra->user_metadata == STRING_EMPTY)
        return true;
    if (slot && slot->tag & (IN_ACTIVE | IN_ALLOCATED))
        return add(timeline,
                   (struct note){.in_trace = !(slot->tag & IS_PREEXISTING),
                                 .index = slot->value,
                                 .event = event,
                                 .text = extra->user_metadata},
                   err);
    return add_early(replay, (struct early_note){addr, event, extra->user_metadata}, err);
}

/* So far preexisting has only the allocations of the edge, by event. */
bool replay_edge_notes(struct replay *replay, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    const struct window_edge *edge = &replay->trace->edge;
    const struct preexisting *held = timeline->preexisting;
    size_t count = timeline->preexisting_count;
    for (size_t i = 0; i < edge->note_count; i++) {
        const struct edge_note *note = &edge->notes[i];
        size_t at = count > 0 && note->alloc != NO_EDGE_EVENT
                        ? bisect_less_64(&held->edge_event, sizeof(*held), count, note->alloc)
                        : count;
        bool ok =
            at < count && held[at].edge_event == note->alloc
                ? add(timeline,
                      (struct note){.in_trace = false,
                                    .index = (uint32_t)at,
                                    .event = note->event,
                                    .text = note->text},
                      err)
                : add_early(replay, (struct early_note){note->addr, note->event, note->text}, err);
        if (!ok)
            return false;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct early_note *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* The first early note of each address, in the sorted list. `value` advances over those that have
 * found their allocation. */
static bool map_early(const struct replay *replay, struct addrmap *map, struct error *err)
{
    for (size_t i = replay->early_count; i-- > 0;) {
        struct addrmap_slot *slot;
        if (!addrmap_put(map, replay->early[i].addr, &slot, err))
            return false;
        slot->value = (uint32_t)i;
        slot->tag = 1;
    }
    return true;
}

/* Allocations from before the trace are listed by their frees, then those that stay. So each takes
 * the notes of its address up to its free. */
static bool give_early(struct replay *replay, const struct addrmap *map, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    for (size_t p = 0; p < timeline->preexisting_count; p++) {
        const struct preexisting *preexisting = &timeline->preexisting[p];
        struct addrmap_slot *slot = addrmap_find(map, preexisting->addr);
        uint32_t end_item = preexisting->free_completed != EVENT_NEVER
                                ? preexisting->free_completed
                                : preexisting->free_requested;
        uint64_t end = end_item == EVENT_NEVER ? UINT64_MAX : replay->trace->first_event + end_item;
        if (preexisting->origin == ORIGIN_EDGE)
            continue;
        for (; slot && slot->value < replay->early_count; slot->value++) {
            const struct early_note *early = &replay->early[slot->value];
            if (early->addr != preexisting->addr || early->event > end)
                break;
            if (!add(
                    timeline,
                    (struct note){.index = (uint32_t)p, .event = early->event, .text = early->text},
                    err))
                return false;
        }
    }
    return true;
}

bool replay_notes(struct replay *replay, struct error *err)
{
    struct budget *budget = replay->timeline->snapshot->budget;
    struct addrmap map;
    bool ok = true;
    addrmap_init(&map, budget);
    if (replay->early_count > 0) {
        qsort(replay->early, replay->early_count, sizeof(*replay->early), by_address);
        ok = map_early(replay, &map, err) && give_early(replay, &map, err);
    }
    addrmap_release(&map);
    live_notes_sort(replay->timeline);
    return ok;
}
