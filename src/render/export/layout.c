#include <stdlib.h>

#include "model/addrmap.h"
#include "model/layout.h"
#include "render/export/parts.h"

/* A device's segments on their way into rows. */
struct walk {
    struct export_sheet *sheet;
    const struct timeline *timeline;
    struct live_set set;
    bool at_dump;
    struct addrmap owners; /* at the dump: address to index in the live list */
    const char *doubt;
};

static const char *const state_names[] = {[SPAN_HOLE] = "inactive",
                                          [SPAN_ALLOCATED] = "active_allocated",
                                          [SPAN_PENDING] = "active_pending_free"};

static void put_segment(struct walk *walk, const struct layout_segment *segment)
{
    uint64_t sizes[3] = {0}, requested = 0, largest = 0;
    struct record_writer *records = &walk->sheet->records;
    for (size_t i = 0; i < segment->span_count; i++) {
        const struct layout_span *span = &segment->spans[i];
        sizes[span->state] += span->size;
        requested += span->requested;
        if (span->state == SPAN_HOLE && span->size > largest)
            largest = span->size;
    }
    record_count(records, walk->timeline->device);
    record_count(records, segment->address);
    record_count(records, segment->size);
    record_word(records, segment->is_small ? "small" : "large");
    record_integer(records, segment->stream);
    record_count(records, segment->pool[0]);
    record_count(records, segment->pool[1]);
    record_flag(records, segment->is_expandable);
    record_count(records, segment->span_count);
    record_count(records, sizes[SPAN_ALLOCATED]);
    record_count(records, sizes[SPAN_ALLOCATED] + sizes[SPAN_PENDING]);
    record_count(records, requested);
    record_count(records, sizes[SPAN_HOLE]);
    record_count(records, largest);
}

/* The allocation that a block is; NULL: a hole, or none that is known. */
static const struct live *owner_of(const struct walk *walk, const struct layout_span *span)
{
    if (span->state == SPAN_HOLE)
        return NULL;
    if (!walk->at_dump)
        return &walk->set.items[span->owner];
    const struct addrmap_slot *slot = addrmap_find(&walk->owners, span->addr);
    const struct live *live = slot ? &walk->set.items[slot->value] : NULL;
    return live && live->size == span->requested ? live : NULL;
}

static void put_birth(struct walk *walk, const struct live *live)
{
    struct record_writer *records = &walk->sheet->records;
    const struct timeline *timeline = walk->timeline;
    if (live->in_trace) {
        uint32_t item = timeline->lifetimes[live->index].alloc;
        record_count(records, timeline->trace->first_event + item);
        export_time(walk->sheet, trace_time(timeline->trace, item));
        return;
    }
    record_none(records);
    record_none(records);
}

static bool put_block(struct walk *walk, uint64_t segment, const struct layout_span *span,
                      struct error *err)
{
    struct record_writer *records = &walk->sheet->records;
    const struct live *live = owner_of(walk, span);
    record_count(records, walk->timeline->device);
    record_count(records, segment);
    record_count(records, span->addr);
    record_count(records, span->size);
    if (span->state == SPAN_HOLE)
        record_none(records);
    else
        record_count(records, span->requested);
    record_word(records, state_names[span->state]);
    if (live) {
        export_category(walk->sheet, &walk->set, live, false);
        put_birth(walk, live);
        return export_source(walk->sheet, &walk->set, live, false, err) && record_end(records, err);
    }
    for (int i = 0; i < 7; i++)
        record_none(records);
    return record_end(records, err);
}

static bool visit_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    struct walk *walk = self;
    put_segment(walk, segment);
    return record_end(&walk->sheet->records, err);
}

static bool visit_blocks(void *self, const struct layout_segment *segment, struct error *err)
{
    struct walk *walk = self;
    for (size_t i = 0; i < segment->span_count; i++)
        if (!put_block(walk, segment->address, &segment->spans[i], err))
            return false;
    return true;
}

static bool map_owners(struct walk *walk, struct error *err)
{
    for (size_t i = 0; walk->at_dump && i < walk->set.count && i < UINT32_MAX; i++) {
        struct addrmap_slot *slot;
        if (!addrmap_put(&walk->owners, walk->set.items[i].addr, &slot, err))
            return false;
        slot->value = (uint32_t)i;
        slot->tag = 1;
    }
    return true;
}

static bool visit(struct walk *walk, enum export_table table, int64_t item, struct error *err)
{
    const struct timeline *timeline = walk->timeline;
    const struct layout_visitor visitor = {walk,
                                           table == EXPORT_SEGMENTS ? visit_segment : visit_blocks};
    if (walk->at_dump)
        return layout_of_dump(timeline->snapshot, timeline->device, &visitor, err);
    struct layout_doubts doubts;
    struct moment moment;
    if (!layout_at(timeline, item, walk->set.items, walk->set.count, true, &visitor, &doubts, err))
        return false;
    timeline_moment(timeline, item, &moment);
    walk->doubt = layout_doubts_text(&doubts, moment.reserved_bytes);
    return true;
}

bool export_layout(struct export_sheet *sheet, const struct export_device *device,
                   enum export_table table, bool at_dump, int64_t item, const char **doubt,
                   struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct walk walk = {
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
    live_set_take(&walk.set, &live);
    addrmap_init(&walk.owners, timeline->snapshot->budget);
    bool ok = map_owners(&walk, err) && visit(&walk, table, item, err);
    addrmap_release(&walk.owners);
    live_list_release(&live);
    if (ok)
        *doubt = walk.doubt;
    return ok;
}
