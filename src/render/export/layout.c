#include <stdlib.h>

#include "model/addrmap.h"
#include "model/device.h"
#include "model/layout.h"
#include "model/live.h"
#include "render/export/internal.h"

/* Context of the rows of a device's segments. */
struct layout {
    struct export_sheet *sheet;
    const struct timeline *timeline;
    struct live_set set;
    bool at_dump;
    struct addrmap owners; /* at the dump: address to index in the live list */
    const char *doubt;
};

/* A segment, with the sums over its blocks. */
struct segment_line {
    int64_t device; /* device_number() */
    struct layout_segment segment;
    uint64_t allocated_size, active_size, requested_size, inactive_size, largest_inactive_block;
};

static struct value segment_kind(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(((const struct segment_line *)data)->segment.is_small ? "small" : "large");
}

#define ROW struct segment_line
const struct row_type export_segment_type = ROW_TYPE(
    "segments", ROW, FIELD(ROW, NUMBER, device), FIELD_AS(ROW, NUMBER, "address", segment.address),
    FIELD_AS(ROW, BYTES, "size", segment.size), FIELD_CALL(WORD, "segment_type", segment_kind),
    FIELD_AS(ROW, NUMBER, "stream", segment.stream),
    FIELD_AS(ROW, NUMBER, "pool_id_0", segment.pool[0]),
    FIELD_AS(ROW, NUMBER, "pool_id_1", segment.pool[1]),
    FIELD_AS(ROW, FLAG, "is_expandable", segment.is_expandable),
    FIELD_AS(ROW, COUNT, "blocks", segment.span_count), FIELD(ROW, BYTES, allocated_size),
    FIELD(ROW, BYTES, active_size), FIELD(ROW, BYTES, requested_size),
    FIELD(ROW, BYTES, inactive_size), FIELD(ROW, BYTES, largest_inactive_block));
#undef ROW

static bool put_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    struct layout *layout = self;
    struct segment_line line = {.device = device_number(layout->timeline->device),
                                .segment = *segment};
    for (size_t i = 0; i < segment->span_count; i++) {
        const struct layout_span *span = &segment->spans[i];
        line.requested_size += span->requested;
        if (span->state == SPAN_ALLOCATED)
            line.allocated_size += span->size;
        if (span->state != SPAN_HOLE)
            line.active_size += span->size;
        else
            line.inactive_size += span->size;
        if (span->state == SPAN_HOLE && span->size > line.largest_inactive_block)
            line.largest_inactive_block = span->size;
    }
    return export_row(layout->sheet, &line, err);
}

/* The allocation in a block; NULL for a hole or an unknown allocation. */
static const struct live *owner_of(const struct layout *layout, const struct layout_span *span)
{
    if (span->state == SPAN_HOLE)
        return NULL;
    if (!layout->at_dump)
        return &layout->set.items[span->owner];
    const struct addrmap_slot *slot = addrmap_find(&layout->owners, span->addr);
    const struct live *live = slot ? &layout->set.items[slot->value] : NULL;
    return live && live->size == span->requested ? live : NULL;
}

/* A block, or a hole between blocks. */
struct block_line {
    int64_t device; /* device_number() */
    uint64_t segment_address;
    struct layout_span span;
    const struct live *live; /* NULL: not known, or a hole */
    enum category category;
    struct live_source source;
    string_id annotation;
};

static bool is_block(const void *data, const struct field_context *context)
{
    (void)context;
    return ((const struct block_line *)data)->span.state != SPAN_HOLE;
}

static struct value state(const void *data, const struct field_context *context)
{
    static const char *const names[] = {[SPAN_HOLE] = "inactive",
                                        [SPAN_ALLOCATED] = "active_allocated",
                                        [SPAN_PENDING] = "active_pending_free"};
    (void)context;
    return value_word(names[((const struct block_line *)data)->span.state]);
}

static struct value confidence(const void *data, const struct field_context *context)
{
    const struct layout *layout = context->user;
    uint8_t why = live_reason(&layout->set, ((const struct block_line *)data)->live);
    return value_word(confidence_name(reason_confidence(why)));
}

/* The trace item of the allocation's birth, or -1. */
static int64_t birth_of(const void *data, const struct field_context *context)
{
    const struct layout *layout = context->user;
    const struct live *live = ((const struct block_line *)data)->live;
    return live->in_trace ? (int64_t)layout->timeline->lifetimes[live->index].alloc : -1;
}

static struct value birth_event(const void *data, const struct field_context *context)
{
    return value_integer(trace_file_event(context->trace, birth_of(data, context)));
}

static struct value birth_time(const void *data, const struct field_context *context)
{
    int64_t item = birth_of(data, context);
    int64_t time_us = item < 0 ? TIME_NONE : trace_time(context->trace, (size_t)item);
    return time_us == TIME_NONE ? value_none() : value_integer(time_us);
}

static bool put_label(struct record_writer *records, const void *data,
                      const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_source_label(records, &((const struct block_line *)data)->source, err);
}

static bool put_operator(struct record_writer *records, const void *data,
                         const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_source_operator(records, &((const struct block_line *)data)->source, err);
}

static struct value stack(const void *data, const struct field_context *context)
{
    (void)context;
    return value_id(((const struct block_line *)data)->live->stack);
}

#define ROW struct block_line
const struct row_type export_block_type = ROW_TYPE(
    "blocks", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, NUMBER, segment_address),
    FIELD_AS(ROW, NUMBER, "address", span.addr), FIELD_AS(ROW, BYTES, "size", span.size),
    FIELD_AS(ROW, BYTES, "requested_size", span.requested, .present = is_block),
    FIELD_CALL(WORD, "state", state), FIELD(ROW, CATEGORY, category, IF(ROW, live)),
    FIELD_CALL(WORD, "confidence", confidence, IF(ROW, live)),
    FIELD_CALL(NUMBER, "birth_event", birth_event, IF(ROW, live), .flags = FIELD_SKIP_NEGATIVE),
    FIELD_CALL(TIME, "birth_time_us", birth_time, IF(ROW, live)), FIELD_RECORD("site", put_label),
    FIELD_RECORD("operator", put_operator), FIELD_CALL(STACK, "stack", stack, IF(ROW, live)),
    FIELD(ROW, STRING, annotation));
#undef ROW

static bool put_block(struct layout *layout, uint64_t segment, const struct layout_span *span,
                      struct error *err)
{
    struct block_line line = {
        .device = device_number(layout->timeline->device),
        .segment_address = segment,
        .span = *span,
        .live = owner_of(layout, span),
        .annotation = STRING_EMPTY,
    };
    if (line.live) {
        line.category = live_category(&layout->set, line.live);
        if (!live_source_of(&layout->set, line.live, &line.source, err) ||
            !live_note_text(layout->timeline, line.live, &line.annotation, err))
            return false;
    }
    return export_row(layout->sheet, &line, err);
}

static bool put_blocks(void *self, const struct layout_segment *segment, struct error *err)
{
    struct layout *layout = self;
    for (size_t i = 0; i < segment->span_count; i++)
        if (!put_block(layout, segment->address, &segment->spans[i], err))
            return false;
    return true;
}

static bool map_owners(struct layout *layout, struct error *err)
{
    for (size_t i = 0; layout->at_dump && i < layout->set.count && i < UINT32_MAX; i++) {
        struct addrmap_slot *slot;
        if (!addrmap_put(&layout->owners, layout->set.items[i].addr, &slot, err))
            return false;
        slot->value = (uint32_t)i;
        slot->tag = 1;
    }
    return true;
}

static bool visit(struct layout *layout, enum export_table table, int64_t item, struct error *err)
{
    const struct timeline *timeline = layout->timeline;
    const struct layout_visitor visitor = {layout,
                                           table == EXPORT_SEGMENTS ? put_segment : put_blocks};
    if (layout->at_dump)
        return layout_of_dump(timeline->snapshot, timeline->device, &visitor, err);
    struct layout_doubts doubts;
    struct moment moment;
    if (!layout_at(timeline, item, layout->set.items, layout->set.count, true, &visitor, &doubts,
                   err))
        return false;
    timeline_moment(timeline, item, &moment);
    layout->doubt = layout_doubts_text(&doubts, moment.reserved_bytes);
    return true;
}

bool export_layout(struct export_sheet *sheet, const struct export_device *device,
                   enum export_table table, bool at_dump, int64_t item, const char **doubt,
                   struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct layout layout = {
        .sheet = sheet,
        .timeline = timeline,
        .set = {.timeline = timeline, .sites = sheet->sites, .categories = device->categories},
        .at_dump = at_dump,
    };
    struct live_list live;
    if (at_dump)
        item = (int64_t)timeline->trace->count - 1;
    if (!timeline_live(timeline, item, &live, err))
        return false;
    live_set_take(&layout.set, &live);
    sheet->set = &layout.set;
    sheet->context.trace = timeline->trace;
    sheet->context.user = &layout;
    addrmap_init(&layout.owners, timeline->snapshot->budget);
    bool ok = map_owners(&layout, err) && visit(&layout, table, item, err);
    addrmap_release(&layout.owners);
    live_list_release(&live);
    sheet->set = NULL;
    if (ok)
        *doubt = layout.doubt;
    return ok;
}
