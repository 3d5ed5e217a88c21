#include "unit/model/reference.h"

#include <stdlib.h>
#include <string.h>

#define FOREVER INT64_MAX

/* A Python dict from addresses, looked up by going through it. */
struct dict {
    struct {
        uint64_t addr, size;
        size_t entry;
    } items[SCRIPT_EVENTS + SCRIPT_BLOCKS * SCRIPT_SEGMENTS];
    size_t count;
};

static size_t dict_find(const struct dict *dict, uint64_t addr)
{
    size_t i = 0;
    while (i < dict->count && dict->items[i].addr != addr)
        i++;
    return i;
}

static void dict_set(struct dict *dict, uint64_t addr, uint64_t size, size_t entry)
{
    size_t i = dict_find(dict, addr);
    if (i == dict->count)
        dict->count++;
    dict->items[i].addr = addr;
    dict->items[i].size = size;
    dict->items[i].entry = entry;
}

static void dict_remove(struct dict *dict, size_t i)
{
    dict->items[i] = dict->items[--dict->count];
}

struct trace_rows {
    const struct event_row *rows[SCRIPT_EVENTS];
    size_t count;
};

static void pick_rows(const struct script *script, uint32_t device, struct trace_rows *trace)
{
    trace->count = 0;
    for (size_t i = 0; i < script->event_count; i++) {
        if (script->events[i].device == device)
            trace->rows[trace->count++] = &script->events[i].row;
    }
}

/* The dump's figures; the live blocks of either curve by address. */
static void read_dump(const struct script *script, uint32_t device, struct memory_state *state,
                      struct dict *active, struct dict *allocated)
{
    for (size_t s = 0; s < script->segment_count; s++) {
        const struct segment_row *segment = &script->segments[s].row;
        if (segment->device != device)
            continue;
        state->segments++;
        state->reserved_bytes += segment->total_size;
        int64_t left = (int64_t)segment->total_size;
        for (size_t b = 0; b < segment->block_count; b++) {
            const struct block_row *block = &script->segments[s].blocks[b];
            state->blocks++;
            left -= (int64_t)block->size;
            if (block->state == BLOCK_ACTIVE_ALLOCATED) {
                state->allocated_bytes += block->size;
                dict_set(allocated, block->address, block->requested_size, 0);
            }
            if (block->state != BLOCK_INACTIVE) {
                state->active_bytes += block->size;
                state->requested_bytes += block->requested_size;
                state->rounding_bytes += (int64_t)block->size - (int64_t)block->requested_size;
                dict_set(active, block->address, block->requested_size, 0);
            } else {
                state->inactive_bytes += block->size;
                if (block->size > state->largest_inactive_block_bytes)
                    state->largest_inactive_block_bytes = block->size;
            }
        }
        *(left > 0 ? &state->untold_bytes : &state->excess_bytes) += (uint64_t)llabs(left);
    }
}

static void add_entry(struct reference *r, uint64_t addr, uint64_t size, int64_t from, int64_t to)
{
    r->entries[r->entry_count++] = (struct reference_entry){addr, size, from, to};
}

/* One curve. Entries and flaws are those of `active` alone. */
static void replay(struct reference *r, const struct trace_rows *trace, enum action free_action,
                   const struct dict *dump, struct curve *curve, int64_t *at)
{
    bool is_active = free_action == ACTION_FREE_COMPLETED;
    struct dict *live = calloc(1, sizeof(*live));
    int64_t now = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct event_row *row = trace->rows[i];
        size_t found = dict_find(live, row->addr);
        if (row->action == ACTION_ALLOC) {
            if (is_active) {
                r->reallocated += found < live->count;
                add_entry(r, row->addr, row->size, (int64_t)i, FOREVER);
            }
            dict_set(live, row->addr, row->size, r->entry_count - 1);
        } else if (row->action == free_action && found < live->count) {
            r->size_changed += live->items[found].size != row->size;
            if (is_active)
                r->entries[live->items[found].entry].to = (int64_t)i;
            dict_remove(live, found);
        } else if (row->action == free_action) {
            now += (int64_t)row->size;
            if (is_active)
                add_entry(r, row->addr, row->size, -1, (int64_t)i);
        }
    }
    for (size_t i = 0; i < dump->count; i++) {
        if (dict_find(live, dump->items[i].addr) < live->count)
            continue;
        now += (int64_t)dump->items[i].size;
        if (is_active)
            add_entry(r, dump->items[i].addr, dump->items[i].size, -1, FOREVER);
    }
    *curve = (struct curve){.baseline_bytes = now, .peak_bytes = now, .peak_event = -1};
    at[0] = now;
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->rows[i]->action == ACTION_ALLOC)
            now += (int64_t)trace->rows[i]->size;
        if (trace->rows[i]->action == free_action)
            now -= (int64_t)trace->rows[i]->size;
        if (now > curve->peak_bytes) {
            curve->peak_bytes = now;
            curve->peak_event = (int64_t)i;
        }
        at[i + 1] = now;
    }
    curve->end_bytes = now;
    free(live);
}

static int64_t reserved_delta(const struct event_row *row)
{
    if (row->action == ACTION_SEGMENT_ALLOC || row->action == ACTION_SEGMENT_MAP)
        return (int64_t)row->size;
    if (row->action == ACTION_SEGMENT_FREE || row->action == ACTION_SEGMENT_UNMAP)
        return -(int64_t)row->size;
    return 0;
}

static void replay_reserved(struct reference *r, const struct trace_rows *trace)
{
    int64_t now = (int64_t)r->state.reserved_bytes;
    struct reserved_curve *curve = &r->reserved;
    curve->end_bytes = now;
    for (size_t i = 0; i < trace->count; i++)
        now -= reserved_delta(trace->rows[i]);
    curve->start_bytes = curve->peak_bytes = curve->at_active_peak_bytes = now;
    curve->lowest_bytes = now;
    curve->peak_event = -1;
    curve->active_at_peak_bytes = r->active_at[0];
    r->reserved_at[0] = now;
    for (size_t i = 0; i < trace->count; i++) {
        now += reserved_delta(trace->rows[i]);
        if (now > curve->peak_bytes) {
            curve->peak_bytes = now;
            curve->peak_event = (int64_t)i;
            curve->active_at_peak_bytes = r->active_at[i + 1];
        }
        if (now < curve->lowest_bytes)
            curve->lowest_bytes = now;
        if ((int64_t)i == r->active.peak_event)
            curve->at_active_peak_bytes = now;
        r->reserved_at[i + 1] = now;
    }
}

void reference_compute(const struct script *script, uint32_t device, struct reference *r)
{
    struct trace_rows trace;
    struct dict *active = calloc(1, sizeof(*active)), *allocated = calloc(1, sizeof(*allocated));
    memset(r, 0, sizeof(*r));
    pick_rows(script, device, &trace);
    read_dump(script, device, &r->state, active, allocated);
    replay(r, &trace, ACTION_FREE_COMPLETED, active, &r->active, r->active_at);
    replay(r, &trace, ACTION_FREE_REQUESTED, allocated, &r->allocated, r->allocated_at);
    replay_reserved(r, &trace);
    free(active);
    free(allocated);
}
