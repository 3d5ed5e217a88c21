/* Converts dicts to rows: events, segments, blocks and annotations. */
#include "decode/rows/reader.h"

#define SHARED_MAX 16 /* maximum items of a container that may occur in several places */

/* Called before a container of `count` items is converted to rows. STATUS_LIMIT for the second
 * conversion of a large container, so that many references to one container do not multiply the
 * work. Small ones may be shared. */
static bool use(struct row_reader *rows, const char *what, value v, size_t count)
{
    struct node *node = value_node(rows->values, v);
    if (count <= SHARED_MAX)
        return true;
    if (node->role == ROLE_USED)
        return error_set_at(rows->err, STATUS_LIMIT, rows->offset,
                            "%s of more than %d items stands in two places", what, SHARED_MAX);
    node->role = ROLE_USED;
    return true;
}

/* Reads a dict of that kind. None stands for an absent value; the last of equal keys counts.
 * `*seen` has 1 << index of each field found. `other` reads the fields of FIELD_OTHER. */
static bool read_dict(struct row_reader *rows, enum row_kind kind, value v, void *row,
                      uint32_t *seen,
                      bool (*other)(struct row_reader *rows, unsigned field, void *row, value v))
{
    const struct row_fields *known = &snapshot_rows[kind];
    const value *pairs;
    size_t count;
    if (!value_mapping(rows->values, v, &pairs, &count))
        return rows_expected(rows, known->expected_dict, v);
    rows->offset = value_node(rows->values, v)->offset;
    if (!use(rows, known->name_with_a, v, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned index = rows_field(rows, kind, pairs[2 * i]);
        value item = pairs[2 * i + 1];
        if (index == NO_FIELD) {
            if (known->tells_unknown_keys && !rows_unknown_key(rows, kind, pairs[2 * i]))
                return false;
            continue;
        }
        const struct field *field = &known->fields[index];
        *seen = item == VALUE_NONE ? *seen & ~(UINT32_C(1) << index) : *seen | UINT32_C(1) << index;
        if (item == VALUE_NONE)
            field_reset(field, row);
        else if (!(field->kind == FIELD_OTHER ? other(rows, index, row, item)
                                              : rows_store(rows, field, row, item)))
            return false;
    }
    return true;
}

bool rows_event_field(struct row_reader *rows, struct event_draft *event, unsigned field, value v)
{
    if (v == VALUE_NONE) {
        event->seen &= ~EVENT_SEEN(field);
        field_reset(row_field(ROW_EVENT, field), event);
        return true;
    }
    event->seen |= EVENT_SEEN(field);
    if (field != EVENT_ACTION)
        return rows_store(rows, row_field(ROW_EVENT, field), event, v);
    if (value_tag(v) != TAG_STRING)
        return rows_expected(rows, row_field(ROW_EVENT, EVENT_ACTION)->expected, v);
    rows_event_action(rows, event, value_payload(v));
    return true;
}

static bool event_action(struct row_reader *rows, unsigned field, void *row, value v)
{
    return rows_event_field(rows, row, field, v);
}

bool rows_event_end(struct row_reader *rows, struct event_draft *event, uint32_t device, value *v)
{
    if (!event_finish(event, rows->offset, rows->err))
        return false;
    if (rows->event_count > VALUE_PAYLOAD_MAX)
        return error_set_at(rows->err, STATUS_LIMIT, rows->offset, "more than %u events",
                            VALUE_PAYLOAD_MAX);
    *v = value_make(TAG_EVENT, (uint32_t)rows->event_count++);
    return rows->sink->event(rows->sink->self, device, &event->row, rows->err);
}

bool rows_event(struct row_reader *rows, uint32_t device, value *v)
{
    bool is_again = value_tag(*v) == TAG_EVENT || value_is_node(rows->values, *v, NODE_EVENT);
    if (is_again) {
        uint64_t sequence = value_tag(*v) == TAG_EVENT ? value_payload(*v)
                                                       : value_node(rows->values, *v)->as.natural;
        rows->event_count++;
        return rows->sink->event_again(rows->sink->self, device, sequence, rows->err);
    }
    struct event_draft event;
    value dict = *v;
    event_begin(&event);
    if (!read_dict(rows, ROW_EVENT, dict, &event, &event.seen, event_action) ||
        !rows_event_end(rows, &event, device, v))
        return false;
    struct node *node = value_node(rows->values, dict);
    node->kind = NODE_EVENT;
    node->as.natural = value_payload(*v);
    return true;
}

static bool block_history(struct row_reader *rows, struct block_history *history, value v)
{
    const value *items;
    size_t count;
    *history = (struct block_history){0};
    if (!value_sequence(rows->values, v, &items, &count))
        return rows_expected(rows, row_field(ROW_BLOCK, BLOCK_HISTORY)->expected, v);
    uint64_t offset = rows->offset;
    bool ok = count == 0 || read_dict(rows, ROW_HISTORY, items[0], history, &history->seen, NULL);
    rows->offset = offset;
    return ok;
}

static bool block_other(struct row_reader *rows, unsigned field, void *row, value v)
{
    struct block_draft *block = row;
    if (field == BLOCK_HISTORY)
        return block_history(rows, &block->history, v);
    if (value_tag(v) != TAG_STRING)
        return rows_expected(rows, row_field(ROW_BLOCK, BLOCK_STATE)->expected, v);
    struct text name = symbols_text(rows->values->symbols, value_payload(v));
    return block_state_of(name, &block->row.state) || rows_fail(rows, "unknown block state");
}

static bool segment_blocks(struct row_reader *rows, value v, struct segment_row *segment)
{
    const value *items;
    size_t count;
    uint64_t address = segment->address;
    if (!value_sequence(rows->values, v, &items, &count))
        return rows_expected(rows, row_field(ROW_SEGMENT, SEGMENT_BLOCKS)->expected, v);
    if (!use(rows, "a list of blocks", v, count) ||
        !vec_reserve(rows->blocks, rows->block_capacity, count, rows->budget, rows->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct block_draft block = {0};
        if (!read_dict(rows, ROW_BLOCK, items[i], &block, &block.seen, block_other) ||
            !block_finish(&block, rows->offset, rows->err) ||
            !block_place(&block.row, block.seen >> BLOCK_ADDRESS & 1, &address, rows->offset,
                         rows->err))
            return false;
        rows->blocks[i] = block.row;
    }
    segment->blocks = rows->blocks;
    segment->block_count = count;
    return true;
}

/* A segment's blocks are read last, since blocks without an address need the segment's. */
struct segment_draft {
    struct segment_row row; /* must be first: the fields' offsets refer to it */
    value blocks;
};

static bool segment_other(struct row_reader *rows, unsigned field, void *row, value v)
{
    (void)rows, (void)field; /* SEGMENT_BLOCKS */
    ((struct segment_draft *)row)->blocks = v;
    return true;
}

bool rows_segment(struct row_reader *rows, value v, bool of_host)
{
    struct segment_draft segment = {.blocks = VALUE_UNSET};
    uint32_t seen = 0;
    if (!read_dict(rows, ROW_SEGMENT, v, &segment, &seen, segment_other) ||
        !fields_check(snapshot_rows[ROW_SEGMENT].fields, SEGMENT_FIELDS, seen, "a segment",
                      rows->offset, rows->err) ||
        !segment_blocks(rows, segment.blocks, &segment.row))
        return false;
    value_node(rows->values, v)->role = ROLE_USED;
    if (of_host)
        segment.row.device = DEVICE_HOST;
    return rows->sink->segment(rows->sink->self, &segment.row, rows->err);
}

static bool annotation_other(struct row_reader *rows, unsigned field, void *row, value v)
{
    struct annotation_row *annotation = row;
    struct text name = {"", 0};
    if (value_tag(v) == TAG_STRING)
        name = symbols_text(rows->values->symbols, value_payload(v));
    return annotation_stage_of(name, &annotation->stage) ||
           rows_expected(rows, row_field(ROW_ANNOTATION, field)->expected, v);
}

bool rows_annotation(struct row_reader *rows, value v)
{
    struct annotation_row row = {.time_us = TIME_NONE};
    uint32_t seen = 0;
    return read_dict(rows, ROW_ANNOTATION, v, &row, &seen, annotation_other) &&
           fields_check(snapshot_rows[ROW_ANNOTATION].fields, ANNOTATION_FIELDS, seen,
                        "an annotation", rows->offset, rows->err) &&
           rows->sink->annotation(rows->sink->self, &row, rows->err);
}
