#include "model/addrmap.h"
#include "model/allocator_rules.h"
#include "render/export/parts.h"

/* An allocation of either kind. */
struct allocation {
    struct live live;
    const char *origin, *counts_in;
    bool has_birth_event;
    uint64_t birth_event; /* in the file */
    int64_t birth_time_us;
    uint32_t birth_item; /* EVENT_NEVER: before the first item */
    uint32_t free_requested, free_completed;
    const struct event_extra *extra; /* NULL: not known */
    uint64_t rounded;                /* UINT64_MAX: not known */
};

/* A device's allocations on their way into rows. */
struct walk {
    struct export_sheet *sheet;
    const struct export_device *device;
    struct live_set set;
    struct allocator_rules rules;
    struct addrmap
        blocks; /* active at the dump: `size` is the block's index, `value` the segment's */
};

static bool map_blocks(struct walk *walk, struct error *err)
{
    const struct timeline *timeline = walk->device->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    for (size_t s = 0; s < snapshot->segment_count && s < UINT32_MAX; s++) {
        const struct segment *segment = &snapshot->segments[s];
        for (size_t b = 0; segment->device == timeline->device && b < segment->block_count; b++) {
            const struct block_row *block = &snapshot->blocks[segment->first_block + b];
            struct addrmap_slot *slot;
            if (block->state == BLOCK_INACTIVE)
                continue;
            if (!addrmap_put(&walk->blocks, block->address, &slot, err))
                return false;
            slot->size = segment->first_block + b;
            slot->value = (uint32_t)s;
            slot->tag = 1;
        }
    }
    return true;
}

/* What the dump knows of what is still there. */
static void ask_dump(const struct walk *walk, struct allocation *allocation,
                     struct event_extra *spare)
{
    const struct snapshot *snapshot = walk->device->timeline->snapshot;
    const struct addrmap_slot *slot = addrmap_find(&walk->blocks, allocation->live.addr);
    if (!slot || snapshot->blocks[slot->size].requested_size != allocation->live.size)
        return;
    const struct segment *segment = &snapshot->segments[slot->value];
    allocation->rounded = snapshot->blocks[slot->size].size;
    if (allocation->extra)
        return;
    *spare = (struct event_extra){.stream = segment->stream,
                                  .pool = {segment->pool[0], segment->pool[1]}};
    allocation->extra = spare;
}

static void put_place(struct walk *walk, const struct allocation *allocation)
{
    struct record_writer *records = &walk->sheet->records;
    if (allocation->rounded != UINT64_MAX)
        record_count(records, allocation->rounded);
    else
        record_none(records);
    if (!allocation->extra) {
        for (int i = 0; i < 3; i++)
            record_none(records);
        return;
    }
    record_integer(records, allocation->extra->stream);
    record_count(records, allocation->extra->pool[0]);
    record_count(records, allocation->extra->pool[1]);
}

/* Event and time of a free. */
static void put_free(struct walk *walk, uint32_t item)
{
    const struct trace *trace = walk->device->timeline->trace;
    struct record_writer *records = &walk->sheet->records;
    if (item == EVENT_NEVER) {
        record_none(records);
        record_none(records);
        return;
    }
    record_count(records, trace->first_event + item);
    export_time(walk->sheet, trace_time(trace, item));
}

/* Phase and step of an item. */
static void put_when(struct walk *walk, uint32_t item)
{
    const struct export_device *device = walk->device;
    struct record_writer *records = &walk->sheet->records;
    uint32_t run = phases_run_of(device->phases, item);
    size_t step = item == EVENT_NEVER ? NO_STEP : steps_of(device->steps, item);
    if (run == NO_RUN)
        record_none(records);
    else
        record_word(records, phase_name((enum phase)device->phases->runs[run].phase));
    if (step == NO_STEP)
        record_none(records);
    else
        record_integer(records, device->steps->items[step].number);
}

static bool put_allocation(struct walk *walk, struct allocation *allocation, struct error *err)
{
    struct record_writer *records = &walk->sheet->records;
    const struct live *live = &allocation->live;
    const struct window_edge *edge = &walk->device->timeline->trace->edge;
    struct event_extra spare;
    allocation->rounded = allocator_round(&walk->rules, live->size);
    if (allocation->free_completed == EVENT_NEVER && edge->skipped_after == 0)
        ask_dump(walk, allocation, &spare);
    record_count(records, walk->device->timeline->device);
    record_count(records, live->addr);
    record_count(records, live->size);
    put_place(walk, allocation);
    export_category(walk->sheet, &walk->set, live, true);
    record_word(records, allocation->origin);
    record_word(records, allocation->counts_in);
    if (allocation->has_birth_event)
        record_count(records, allocation->birth_event);
    else
        record_none(records);
    export_time(walk->sheet, allocation->birth_time_us);
    put_when(walk, allocation->birth_item);
    put_free(walk, allocation->free_requested);
    put_free(walk, allocation->free_completed);
    put_when(walk, allocation->free_completed);
    return export_source(walk->sheet, &walk->set, live, true, err) && record_end(records, err);
}

static bool put_preexisting(struct walk *walk, size_t index, struct error *err)
{
    static const char *const origins[] = {
        [ORIGIN_BLOCK] = "dump", [ORIGIN_FREED] = "free", [ORIGIN_EDGE] = "before_range"};
    const struct timeline *timeline = walk->device->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    const struct preexisting *preexisting = &timeline->preexisting[index];
    struct allocation allocation = {
        .live = live_of_preexisting(timeline, index),
        .origin = origins[preexisting->origin],
        .counts_in = !preexisting->in_allocated ? "active"
                     : preexisting->in_active   ? "both"
                                                : "allocated",
        .birth_time_us = TIME_NONE,
        .birth_item = EVENT_NEVER,
        .free_requested = preexisting->free_requested,
        .free_completed = preexisting->free_completed,
    };
    uint32_t freed = preexisting->free_completed != EVENT_NEVER ? preexisting->free_completed
                                                                : preexisting->free_requested;
    if (preexisting->origin == ORIGIN_EDGE) { /* those are the first, in the order of the edge */
        const struct edge_allocation *held = &timeline->trace->edge.held[index];
        allocation.has_birth_event = true;
        allocation.birth_event = held->event;
        allocation.birth_time_us = held->time_us;
        allocation.extra = &snapshot->extras[held->extra];
    } else if (freed != EVENT_NEVER) {
        allocation.extra = &snapshot->extras[trace_extra(timeline->trace, freed)];
    }
    return put_allocation(walk, &allocation, err);
}

static bool put_lifetime(struct walk *walk, size_t index, struct error *err)
{
    const struct timeline *timeline = walk->device->timeline;
    const struct trace *trace = timeline->trace;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    uint32_t item = lifetime->alloc;
    struct allocation allocation = {
        .live = live_of_lifetime(timeline, index),
        .origin = "trace",
        .counts_in = "both",
        .has_birth_event = true,
        .birth_event = trace->first_event + item,
        .birth_time_us = trace_time(trace, item),
        .birth_item = item,
        .free_requested = lifetime->free_requested,
        .free_completed = lifetime->free_completed,
        .extra = &timeline->snapshot->extras[trace_extra(trace, item)],
    };
    return put_allocation(walk, &allocation, err);
}

bool export_allocations(struct export_sheet *sheet, const struct export_device *device,
                        struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct walk walk = {
        .sheet = sheet,
        .device = device,
        .set = {.timeline = timeline, .sites = sheet->sites, .categories = device->categories},
        .rules = timeline->snapshot->rules,
    };
    addrmap_init(&walk.blocks, timeline->snapshot->budget);
    bool ok = map_blocks(&walk, err);
    for (size_t i = 0; ok && i < timeline->preexisting_count; i++)
        ok = put_preexisting(&walk, i, err);
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++)
        ok = put_lifetime(&walk, i, err);
    addrmap_release(&walk.blocks);
    return ok;
}
