#include "model/cutter.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "model/addrmap.h"
#include "model/sums.h"

/* The curves in which the last alloc of an address still counts. */
#define IN_ACTIVE    1u
#define IN_ALLOCATED 2u

struct cutter {
    const struct symbols *symbols; /* not owned */
    struct budget *budget;
    struct window_gate gate;
    enum window_phase phase; /* phase of the current event */
    int64_t latest_us;       /* latest time so far */
    bool goes_back;
    uint64_t back_event;  /* the first event that goes back, if one does */
    uint64_t event, kept; /* index of the current event; number of events kept */
    /* Live addresses. With the tag BEFORE, `value` is the index of the allocation in edge.held. */
    struct addrmap live;
    /* `held` is final once the range has begun; until then allocations are added and removed. */
    struct window_edge edge;
    size_t held_capacity, later_free_capacity, note_capacity;
};

struct cutter *cutter_create(const struct window *window, const struct symbols *symbols,
                             struct budget *budget, struct error *err)
{
    struct cutter *cutter = calloc(1, sizeof(*cutter));
    if (!cutter) {
        error_out_of_memory(err);
        return NULL;
    }
    window_gate_init(&cutter->gate, window);
    cutter->symbols = symbols;
    cutter->budget = budget;
    cutter->edge.present = true;
    cutter->latest_us = INT64_MIN;
    addrmap_init(&cutter->live, budget);
    return cutter;
}

void cutter_destroy(struct cutter *cutter)
{
    if (!cutter)
        return;
    addrmap_release(&cutter->live);
    vec_free(cutter->edge.held, cutter->held_capacity, sizeof(*cutter->edge.held), cutter->budget);
    vec_free(cutter->edge.notes, cutter->note_capacity, sizeof(*cutter->edge.notes),
             cutter->budget);
    vec_free(cutter->edge.later_frees, cutter->later_free_capacity,
             sizeof(*cutter->edge.later_frees), cutter->budget);
    vec_free(cutter->edge.end_live, cutter->edge.end_live_count, sizeof(*cutter->edge.end_live),
             cutter->budget);
    free(cutter);
}

static bool overflow(const struct cutter *cutter, struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT, "event %llu: the sizes add up to 2^62 bytes and more",
                     (unsigned long long)cutter->event);
}

/* Moves the last item into the gap, so that `held` stays contiguous. */
static void drop_held(struct cutter *cutter, uint32_t index)
{
    struct edge_allocation *held = cutter->edge.held;
    size_t last = --cutter->edge.held_count;
    if (index == last)
        return;
    held[index] = held[last];
    if (!held[index].shadowed)
        addrmap_find(&cutter->live, held[index].addr)->value = index;
}

static bool alloc_before(struct cutter *cutter, const struct event_row *row, uint32_t extra,
                         struct addrmap_slot *slot, struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    if (slot->tag & IN_ACTIVE) {
        edge->held[slot->value].shadowed = true;
    } else if (slot->tag) {
        if (!sum_add(&edge->allocated_offset, slot->size))
            return overflow(cutter, err);
        drop_held(cutter, slot->value);
    }
    size_t at = edge->held_count;
    edge->held[at] = (struct edge_allocation){.event = cutter->event,
                                              .addr = row->addr,
                                              .size = row->size,
                                              .time_us = row->time_us,
                                              .stack = row->stack,
                                              .extra = extra};
    edge->held_count++;
    slot->value = (uint32_t)at;
    return true;
}

static bool on_alloc(struct cutter *cutter, const struct event_row *row, uint32_t extra,
                     struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    struct addrmap_slot *slot;
    if (cutter->phase == WINDOW_BEFORE) {
        if (edge->held_count >= UINT32_MAX)
            return error_set(err, STATUS_LIMIT, "too many live allocations before the range");
        if (!vec_reserve(edge->held, cutter->held_capacity, edge->held_count + 1, cutter->budget,
                         err))
            return false;
    }
    if (!addrmap_put(&cutter->live, row->addr, &slot, err))
        return false;
    if (cutter->phase != WINDOW_INSIDE && slot->tag & IN_ACTIVE)
        edge->reallocated++;
    if (cutter->phase == WINDOW_BEFORE && !alloc_before(cutter, row, extra, slot, err))
        return false;
    if (cutter->phase == WINDOW_AFTER && !sum_add(&edge->active_after, row->size))
        return overflow(cutter, err);
    slot->size = row->size;
    slot->tag = IN_ACTIVE | IN_ALLOCATED;
    return true;
}

/* Handles the free of an allocation that the trace made. */
static bool match(struct cutter *cutter, const struct event_row *row, unsigned curve,
                  struct addrmap_slot *slot, struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    if (cutter->phase != WINDOW_INSIDE && slot->size != row->size)
        edge->size_changed++;
    slot->tag &= ~curve;
    uint32_t index = slot->value;
    uint64_t size = slot->size;
    bool gone = !slot->tag;
    if (gone)
        addrmap_remove(&cutter->live, slot);
    if (cutter->phase != WINDOW_BEFORE)
        return true;

    int64_t *offset = curve == IN_ACTIVE ? &edge->active_offset : &edge->allocated_offset;
    if (size != row->size && (!sum_add(offset, size) || !sum_subtract(offset, row->size)))
        return overflow(cutter, err);
    if (curve == IN_ACTIVE)
        edge->held[index].free_completed = true;
    else
        edge->held[index].free_requested = true;
    if (gone)
        drop_held(cutter, index);
    return true;
}

static bool on_free(struct cutter *cutter, const struct event_row *row, unsigned curve,
                    struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    if (cutter->phase == WINDOW_AFTER && curve == IN_ACTIVE &&
        !sum_subtract(&edge->active_after, row->size))
        return overflow(cutter, err);
    struct addrmap_slot *slot = addrmap_find(&cutter->live, row->addr);
    if (slot && slot->tag & curve)
        return match(cutter, row, curve, slot, err);
    if (cutter->phase != WINDOW_AFTER)
        return true;
    if (!vec_reserve(edge->later_frees, cutter->later_free_capacity, edge->later_free_count + 1,
                     cutter->budget, err))
        return false;
    edge->later_frees[edge->later_free_count++] =
        (struct edge_free){.addr = row->addr, .size = row->size, .action = row->action};
    return true;
}

static bool on_other(struct cutter *cutter, const struct event_row *row, struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    if (cutter->phase != WINDOW_BEFORE || row->extra.user_metadata == STRING_EMPTY ||
        !text_equals(symbols_text(cutter->symbols, row->action_name), ACTION_TEXT_ANNOTATE))
        return true;
    const struct addrmap_slot *slot = addrmap_find(&cutter->live, row->addr);
    const struct edge_note note = {
        .event = cutter->event,
        .alloc = slot && slot->tag ? edge->held[slot->value].event : NO_EDGE_EVENT,
        .addr = row->addr,
        .text = row->extra.user_metadata,
    };
    return vec_push(edge->notes, edge->note_count, cutter->note_capacity, cutter->budget, err,
                    note);
}

static bool apply(struct cutter *cutter, const struct event_row *row, uint32_t extra,
                  struct error *err)
{
    int64_t *reserved = &cutter->edge.reserved_after;
    switch (row->action) {
    case ACTION_ALLOC:
        return on_alloc(cutter, row, extra, err);
    case ACTION_FREE_REQUESTED:
        return on_free(cutter, row, IN_ALLOCATED, err);
    case ACTION_FREE_COMPLETED:
        return on_free(cutter, row, IN_ACTIVE, err);
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_MAP:
        return cutter->phase != WINDOW_AFTER || sum_add(reserved, row->size) ||
               overflow(cutter, err);
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_UNMAP:
        return cutter->phase != WINDOW_AFTER || sum_subtract(reserved, row->size) ||
               overflow(cutter, err);
    case ACTION_OOM:
    case ACTION_SNAPSHOT:
    case ACTION_WORKSPACE_SNAPSHOT:
        break;
    case ACTION_OTHER:
        return on_other(cutter, row, err);
    }
    return true;
}

bool cutter_event(struct cutter *cutter, const struct event_row *row, uint32_t extra, bool *keep,
                  struct error *err)
{
    cutter->event = cutter->gate.events;
    cutter->phase = window_gate_pass(&cutter->gate, row->time_us);
    if (!apply(cutter, row, extra, err))
        return false;
    if (time_goes_back(&cutter->latest_us, row->time_us) && !cutter->goes_back) {
        cutter->goes_back = true;
        cutter->back_event = cutter->event;
    }
    *keep = cutter->phase == WINDOW_INSIDE;
    cutter->kept += *keep;
    return true;
}

uint64_t cutter_first_kept(const struct cutter *cutter)
{
    return window_gate_first(&cutter->gate);
}

static int by_event(const void *a, const void *b)
{
    const struct edge_allocation *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static int by_address(const void *a, const void *b)
{
    const struct edge_address *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Lists the addresses that are still in the table. */
static bool collect_end_live(struct cutter *cutter, struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    struct addrmap *live = &cutter->live;
    size_t capacity = 0;
    if (live->count && !vec_reserve(edge->end_live, capacity, live->count, cutter->budget, err))
        return false;
    for (size_t i = 0; live->count && i <= live->mask; i++) {
        const struct addrmap_slot *slot = &live->slots[i];
        if (slot->tag)
            edge->end_live[edge->end_live_count++] =
                (struct edge_address){.addr = slot->addr,
                                      .in_active = slot->tag & IN_ACTIVE,
                                      .in_allocated = slot->tag & IN_ALLOCATED};
    }
    return true;
}

/* Drops the notes of allocations that ended before the range. `held` is sorted. */
static void drop_notes(struct window_edge *edge)
{
    const struct edge_allocation *held = edge->held;
    size_t kept = 0;
    for (size_t i = 0; i < edge->note_count; i++) {
        uint64_t alloc = edge->notes[i].alloc;
        size_t at = edge->held_count > 0
                        ? bisect_less_64(&held->event, sizeof(*held), edge->held_count, alloc)
                        : 0;
        if (alloc == NO_EDGE_EVENT || (at < edge->held_count && held[at].event == alloc))
            edge->notes[kept++] = edge->notes[i];
    }
    edge->note_count = kept;
}

bool cutter_finish(struct cutter *cutter, struct trace *trace, struct error *err)
{
    struct window_edge *edge = &cutter->edge;
    if (!collect_end_live(cutter, err))
        return false;
    if (edge->held_count)
        qsort(edge->held, edge->held_count, sizeof(*edge->held), by_event);
    drop_notes(edge);
    if (edge->end_live_count)
        qsort(edge->end_live, edge->end_live_count, sizeof(*edge->end_live), by_address);
    const struct window_gate *gate = &cutter->gate;
    edge->first_time_us = gate->first_time_us;
    edge->last_time_us = gate->last_time_us;
    edge->skipped_before = window_gate_first(gate);
    edge->skipped_after = gate->events - edge->skipped_before - cutter->kept;
    trace->first_event = edge->skipped_before;
    trace->file_events = gate->events;
    trace->goes_back = cutter->goes_back;
    trace->back_event = cutter->back_event;
    trace->edge = *edge;
    cutter->edge = (struct window_edge){0};
    cutter->held_capacity = cutter->later_free_capacity = cutter->note_capacity = 0;
    return true;
}
