#include "model/addrmap.h"
#include "model/allocator_rules.h"
#include "model/device.h"
#include "model/live.h"
#include "render/export/internal.h"

/* An allocation, from before or during the trace, as a row needs it. Events and times are those in
 * the file. */
struct allocation {
    struct live live;
    const char *origin, *counts_in;
    int64_t device; /* device_number() */
    uint64_t rounded;
    bool place_is_known; /* `place` */
    struct event_extra place;
    enum category category;
    uint8_t reason;
    bool has_birth_event;
    uint64_t birth_event;
    int64_t birth_time_us;
    uint32_t birth_item, free_requested, free_completed; /* items, or EVENT_NEVER */
    struct live_source source;
    stack_id forward_stack;
    string_id annotation;
};

/* Context of the rows of a device's allocations. */
struct allocations {
    struct export_sheet *sheet;
    const struct export_device *device;
    struct live_set set;
    struct allocator_rules rules;
    struct addrmap
        blocks; /* active at the dump: `size` is the block's index, `value` the segment's */
};

static bool map_blocks(struct allocations *all, struct error *err)
{
    const struct timeline *timeline = all->device->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    for (size_t s = 0; s < snapshot->segment_count && s < UINT32_MAX; s++) {
        const struct segment *segment = &snapshot->segments[s];
        for (size_t b = 0; segment->device == timeline->device && b < segment->block_count; b++) {
            const struct block_row *block = &snapshot->blocks[segment->first_block + b];
            struct addrmap_slot *slot;
            if (block->state == BLOCK_INACTIVE)
                continue;
            if (!addrmap_put(&all->blocks, block->address, &slot, err))
                return false;
            slot->size = segment->first_block + b;
            slot->value = (uint32_t)s;
            slot->tag = 1;
        }
    }
    return true;
}

/* Adds the rounded size and the place of an allocation that is still live in the dump. */
static void add_dump_facts(const struct allocations *all, struct allocation *allocation)
{
    const struct snapshot *snapshot = all->device->timeline->snapshot;
    const struct addrmap_slot *slot = addrmap_find(&all->blocks, allocation->live.addr);
    if (!slot || snapshot->blocks[slot->size].requested_size != allocation->live.size)
        return;
    const struct segment *segment = &snapshot->segments[slot->value];
    allocation->rounded = snapshot->blocks[slot->size].size;
    if (allocation->place_is_known)
        return;
    allocation->place = (struct event_extra){.stream = segment->stream,
                                             .pool = {segment->pool[0], segment->pool[1]}};
    allocation->place_is_known = true;
}

static const struct allocations *all_of(const struct field_context *context)
{
    return context->user;
}

static struct value confidence(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(
        confidence_name(reason_confidence(((const struct allocation *)data)->reason)));
}

static struct value reason(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(reason_name(((const struct allocation *)data)->reason));
}

static struct value position_of(uint32_t item)
{
    return item == EVENT_NEVER ? value_none() : value_integer(item);
}

static struct value birth_position(const void *data, const struct field_context *context)
{
    (void)context;
    return position_of(((const struct allocation *)data)->birth_item);
}

static struct value death_position(const void *data, const struct field_context *context)
{
    (void)context;
    return position_of(((const struct allocation *)data)->free_completed);
}

static struct value time_of(const struct field_context *context, uint32_t item)
{
    int64_t time_us = item == EVENT_NEVER ? TIME_NONE : trace_time(context->trace, item);
    return time_us == TIME_NONE ? value_none() : value_integer(time_us);
}

static struct value requested_time(const void *data, const struct field_context *context)
{
    return time_of(context, ((const struct allocation *)data)->free_requested);
}

static struct value death_time(const void *data, const struct field_context *context)
{
    return time_of(context, ((const struct allocation *)data)->free_completed);
}

static struct value phase_of(const struct field_context *context, uint32_t item)
{
    const struct phases *phases = all_of(context)->device->phases;
    uint32_t run = phases_run_of(phases, item);
    return value_word(run == NO_RUN ? NULL : phase_name((enum phase)phases->runs[run].phase));
}

static struct value step_of(const struct field_context *context, uint32_t item)
{
    const struct steps *steps = all_of(context)->device->steps;
    size_t step = item == EVENT_NEVER ? NO_STEP : steps_of(steps, item);
    return step == NO_STEP ? value_none() : value_integer(steps->items[step].number);
}

static struct value birth_phase(const void *data, const struct field_context *context)
{
    return phase_of(context, ((const struct allocation *)data)->birth_item);
}

static struct value birth_step(const void *data, const struct field_context *context)
{
    return step_of(context, ((const struct allocation *)data)->birth_item);
}

static struct value death_phase(const void *data, const struct field_context *context)
{
    return phase_of(context, ((const struct allocation *)data)->free_completed);
}

static struct value death_step(const void *data, const struct field_context *context)
{
    return step_of(context, ((const struct allocation *)data)->free_completed);
}

static bool put_label(struct record_writer *records, const void *data,
                      const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_source_label(records, &((const struct allocation *)data)->source, err);
}

static bool put_operator(struct record_writer *records, const void *data,
                         const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_source_operator(records, &((const struct allocation *)data)->source, err);
}

#define ROW struct allocation
const struct row_type export_allocation_type = ROW_TYPE(
    "allocations", ROW, FIELD(ROW, NUMBER, device), FIELD_AS(ROW, NUMBER, "address", live.addr),
    FIELD_AS(ROW, BYTES, "size", live.size), FIELD_AS(ROW, BYTES, "rounded_size", rounded),
    FIELD_AS(ROW, NUMBER, "stream", place.stream, IF(ROW, place_is_known)),
    FIELD_AS(ROW, NUMBER, "pool_id_0", place.pool[0], IF(ROW, place_is_known)),
    FIELD_AS(ROW, NUMBER, "pool_id_1", place.pool[1], IF(ROW, place_is_known)),
    FIELD(ROW, CATEGORY, category), FIELD_CALL(WORD, "confidence", confidence),
    FIELD_CALL(WORD, "reason", reason), FIELD(ROW, WORD, origin), FIELD(ROW, WORD, counts_in),
    FIELD(ROW, NUMBER, birth_event, IF(ROW, has_birth_event)),
    FIELD_CALL(NUMBER, "birth_position", birth_position, .flags = FIELD_ONLY_DATABASE),
    FIELD(ROW, TIME, birth_time_us), FIELD_CALL(WORD, "birth_phase", birth_phase),
    FIELD_CALL(NUMBER, "birth_step", birth_step),
    FIELD_AS(ROW, EVENT, "free_requested_event", free_requested, .flags = FIELD_SKIP_NEGATIVE),
    FIELD_CALL(TIME, "free_requested_time_us", requested_time),
    FIELD_AS(ROW, EVENT, "death_event", free_completed, .flags = FIELD_SKIP_NEGATIVE),
    FIELD_CALL(NUMBER, "death_position", death_position, .flags = FIELD_ONLY_DATABASE),
    FIELD_CALL(TIME, "death_time_us", death_time), FIELD_CALL(WORD, "death_phase", death_phase),
    FIELD_CALL(NUMBER, "death_step", death_step), FIELD_RECORD("site", put_label),
    FIELD_RECORD("operator", put_operator), FIELD_AS(ROW, STACK, "stack", live.stack),
    FIELD(ROW, STACK, forward_stack), FIELD(ROW, STRING, annotation));
#undef ROW

static bool put_allocation(struct allocations *all, struct allocation *allocation,
                           struct error *err)
{
    const struct live *live = &allocation->live;
    const struct timeline *timeline = all->device->timeline;
    allocation->device = device_number(timeline->device);
    allocation->rounded = allocator_round(&all->rules, live->size);
    if (allocation->free_completed == EVENT_NEVER && timeline->trace->edge.skipped_after == 0)
        add_dump_facts(all, allocation);
    allocation->category = live_category(&all->set, live);
    allocation->reason = live_reason(&all->set, live);
    allocation->forward_stack = live_forward_stack(all->set.timeline, live);
    return live_source_of(&all->set, live, &allocation->source, err) &&
           live_note_text(timeline, live, &allocation->annotation, err) &&
           export_row(all->sheet, allocation, err);
}

static void set_place(struct allocation *allocation, const struct snapshot *snapshot, size_t extra)
{
    allocation->place = snapshot->extras[extra];
    allocation->place_is_known = true;
}

static bool put_preexisting(struct allocations *all, size_t index, struct error *err)
{
    static const char *const origins[] = {
        [ORIGIN_BLOCK] = "dump", [ORIGIN_FREED] = "free", [ORIGIN_EDGE] = "before_range"};
    const struct timeline *timeline = all->device->timeline;
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
    if (preexisting->origin == ORIGIN_EDGE) {
        const struct edge_allocation *held = live_edge(timeline, &allocation.live);
        allocation.has_birth_event = true;
        allocation.birth_event = held->event;
        allocation.birth_time_us = held->time_us;
        set_place(&allocation, snapshot, held->extra);
    } else if (freed != EVENT_NEVER) {
        set_place(&allocation, snapshot, trace_extra(timeline->trace, freed));
    }
    return put_allocation(all, &allocation, err);
}

static bool put_lifetime(struct allocations *all, size_t index, struct error *err)
{
    const struct timeline *timeline = all->device->timeline;
    const struct trace *trace = timeline->trace;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    uint32_t item = lifetime->alloc;
    struct allocation allocation = {
        .live = live_of_lifetime(timeline, index),
        .origin = "trace",
        .counts_in = "both",
        .has_birth_event = true,
        .birth_event = (uint64_t)trace_file_event(trace, item),
        .birth_time_us = trace_time(trace, item),
        .birth_item = item,
        .free_requested = lifetime->free_requested,
        .free_completed = lifetime->free_completed,
    };
    set_place(&allocation, timeline->snapshot, trace_extra(trace, item));
    return put_allocation(all, &allocation, err);
}

bool export_allocations(struct export_sheet *sheet, const struct export_device *device,
                        struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct allocations all = {
        .sheet = sheet,
        .device = device,
        .set = {.timeline = timeline, .sites = sheet->sites, .categories = device->categories},
        .rules = timeline->snapshot->rules,
    };
    sheet->set = &all.set;
    sheet->context.trace = timeline->trace;
    sheet->context.user = &all;
    addrmap_init(&all.blocks, timeline->snapshot->budget);
    bool ok = map_blocks(&all, err);
    for (size_t i = 0; ok && i < timeline->preexisting_count; i++)
        ok = put_preexisting(&all, i, err);
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++)
        ok = put_lifetime(&all, i, err);
    addrmap_release(&all.blocks);
    sheet->set = NULL;
    return ok;
}
