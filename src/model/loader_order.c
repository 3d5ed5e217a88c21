#include <stdlib.h>
#include <string.h>

#include "model/addrmap.h"
#include "model/loader_state.h"

/* An event and its time; without one, that of the event before. */
struct dated {
    int64_t time_us;
    uint32_t item;
};

/* Looks at the stored forms only, since nearly all traces are in order: true if some time may be
 * earlier than the one before. */
static bool may_go_back(const struct trace *trace)
{
    const uint32_t *low = trace->time.low;
    for (size_t first = 0, end; first < trace->count; first = end) {
        end = trace->count - first < COLUMN_BLOCK ? trace->count : first + COLUMN_BLOCK;
        bool back = first > 0 && trace_time(trace, first) < trace_time(trace, first - 1);
        for (size_t i = first + 1; i < end; i++)
            back |= low[i] < low[i - 1];
        if (back)
            return true;
    }
    return false;
}

/* Finds the first event that goes back. */
static bool find_step_back(const struct trace *trace, size_t *item)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < trace->count; i++) {
        if (!time_goes_back(&latest, trace_time(trace, i)))
            continue;
        *item = i;
        return true;
    }
    return false;
}

#define PARTS_MOST 16 /* each in order of time */

/* False if the events are in more disorder than that of lists one after the other. */
static bool has_few_parts(const struct trace *trace)
{
    size_t parts = 1;
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < trace->count && parts <= PARTS_MOST; i++) {
        int64_t time = trace_time(trace, i);
        if (!time_goes_back(&latest, time))
            continue;
        parts++;
        latest = time;
    }
    return parts <= PARTS_MOST;
}

static int by_time(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void sort(const struct trace *trace, struct dated *events)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < trace->count; i++) {
        int64_t time = trace_time(trace, i);
        latest = time == TIME_NONE ? latest : time;
        events[i] = (struct dated){latest, (uint32_t)i};
    }
    qsort(events, trace->count, sizeof(*events), by_time);
}

/* True if the events of each address keep their order, as they must: an address is allocated before
 * it is freed. */
static bool keeps_addresses(const struct trace *trace, const struct dated *events,
                            struct budget *budget, bool *keeps, struct error *err)
{
    struct addrmap latest;
    bool ok = true;
    *keeps = true;
    addrmap_init(&latest, budget);
    for (size_t i = 0; ok && *keeps && i < trace->count; i++) {
        uint32_t item = events[i].item;
        uint8_t action = trace->action[item];
        struct addrmap_slot *slot;
        if (action == ACTION_OOM || action == ACTION_SNAPSHOT ||
            action == ACTION_WORKSPACE_SNAPSHOT) /* their address is another fact */
            continue;
        ok = addrmap_put(&latest, trace_addr(trace, item), &slot, err);
        if (!ok)
            break;
        *keeps = slot->tag == 0 || slot->value < item;
        slot->tag = 1;
        slot->value = item;
    }
    addrmap_release(&latest);
    return ok;
}

static void free_columns(struct trace *trace, const struct columns *c, struct budget *budget)
{
    vec_free(trace->addr.low, c->addr, sizeof(*trace->addr.low), budget);
    vec_free(trace->addr.base, c->addr_bases, sizeof(*trace->addr.base), budget);
    vec_free(trace->addr.wide, c->wide_addrs, sizeof(*trace->addr.wide), budget);
    vec_free(trace->size.low, c->size, sizeof(*trace->size.low), budget);
    vec_free(trace->size.wide, c->wide_sizes, sizeof(*trace->size.wide), budget);
    vec_free(trace->time.low, c->time, sizeof(*trace->time.low), budget);
    vec_free(trace->time.base, c->time_bases, sizeof(*trace->time.base), budget);
    vec_free(trace->time.wide, c->wide_times, sizeof(*trace->time.wide), budget);
    vec_free(trace->extra.runs, c->extra_runs, sizeof(*trace->extra.runs), budget);
    vec_free(trace->stack, c->stack, sizeof(*trace->stack), budget);
    vec_free(trace->action, c->action, sizeof(*trace->action), budget);
}

/* Appends the events to new columns in their new order. */
static bool rebuild(struct loader *loader, uint32_t device, const struct dated *events,
                    struct error *err)
{
    struct trace *trace = loader_trace_of(loader, device), old = *trace;
    struct columns *columns = loader_columns_of(loader, device), was = *columns;
    size_t capacity = 0;
    bool ok = true;
    *trace = TRACE_OF_DEVICE(device);
    *columns = (struct columns){
        .last_extra = UINT32_MAX, .announced = was.announced, .events = was.events};
    ok = vec_reserve(trace->order, capacity, old.count, loader->budget, err);
    for (size_t i = 0; ok && i < old.count; i++) {
        uint32_t item = events[i].item;
        struct event_row row = {.addr = trace_addr(&old, item),
                                .size = trace_size(&old, item),
                                .time_us = trace_time(&old, item),
                                .stack = old.stack[item]};
        trace->order[i] = item;
        loader->extras.last = trace_extra(&old, item);
        ok = loader_append(loader, device, &row, old.action[item], err);
    }
    free_columns(&old, &was, loader->budget);
    return ok;
}

bool loader_order(struct loader *loader, uint32_t device, struct error *err)
{
    struct trace *trace = loader_trace_of(loader, device);
    size_t back, capacity = 0;
    struct dated *events = NULL;
    bool keeps = false;
    if (!may_go_back(trace) || !find_step_back(trace, &back))
        return true;
    if (!loader->file_order && has_few_parts(trace)) {
        if (!vec_reserve(events, capacity, trace->count, loader->budget, err))
            return false;
        sort(trace, events);
        bool ok = keeps_addresses(trace, events, loader->budget, &keeps, err) &&
                  (!keeps || rebuild(loader, device, events, err));
        vec_free(events, capacity, sizeof(*events), loader->budget);
        if (!ok)
            return false;
    }
    trace->goes_back = true;
    trace->back_event = back;
    return true;
}
