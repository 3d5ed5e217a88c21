/* Converts objects to rows: events, segments, blocks and annotations. */
#include "decode/json/decoder.h"

/* Reads the value of one key. */
static bool read_item(struct json_decoder *decoder, enum row_kind kind, unsigned index, void *row,
                      uint32_t *seen,
                      bool (*other)(struct json_decoder *decoder, unsigned field, void *row,
                                    struct error *err),
                      struct error *err)
{
    const struct field *field = row_field(kind, index);
    bool null = false;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err) ||
        (byte == 'n' && !json_take_null(&decoder->reader, &null, err)))
        return false;
    if (null) {
        *seen &= ~(UINT32_C(1) << index);
        field_reset(field, row);
        return true;
    }
    *seen |= UINT32_C(1) << index;
    return field->kind == FIELD_OTHER ? other(decoder, index, row, err)
                                      : json_store(decoder, field, row, err);
}

/* Reads an object of that kind. `*seen` has 1 << index of each field found, and `*start` becomes
 * the offset of the object. `other` reads the fields of FIELD_OTHER. */
static bool read_row(struct json_decoder *decoder, enum row_kind kind, void *row, uint32_t *seen,
                     uint64_t *start,
                     bool (*other)(struct json_decoder *decoder, unsigned field, void *row,
                                   struct error *err),
                     struct error *err)
{
    const struct row_fields *known = &snapshot_rows[kind];
    struct json_reader *reader = &decoder->reader;
    unsigned index = 0; /* index of the field that comes next in the usual order */
    bool more;

    if (!json_offset(reader, start, err) ||
        !json_open(reader, '{', known->expected_object, &more, err))
        return false;
    while (more) {
        struct text key;

        if (!json_read_key(reader, &key, err))
            return false;
        if (index >= known->count || !field_has_name(&known->fields[index], key))
            index = field_find(known->fields, known->count, key);
        if (!(index < known->count ? read_item(decoder, kind, index, row, seen, other, err)
                                   : json_unknown(decoder, kind, key, err)) ||
            !json_more(reader, '{', &more, err))
            return false;
        index++;
    }
    return true;
}

static bool read_action(struct json_decoder *decoder, unsigned field, void *draft,
                        struct error *err)
{
    struct event_row *row = &((struct event_draft *)draft)->row;
    struct text text;
    unsigned action = 0;

    if (!json_read_string(&decoder->reader, row_field(ROW_EVENT, field)->expected, &text, err))
        return false;
    while (action < ACTION_OTHER && text_compare(action_texts[action], text) != 0)
        action++;
    row->action = (enum action)action;
    return json_intern(decoder, text, &row->action_name, err);
}

static bool decode_event(struct json_decoder *decoder, uint32_t device, struct error *err)
{
    struct event_draft event;
    uint64_t start;

    event_begin(&event);
    return read_row(decoder, ROW_EVENT, &event, &event.seen, &start, read_action, err) &&
           event_finish(&event, start, err) &&
           decoder->sink->event(decoder->sink->self, device, &event.row, err);
}

bool json_decode_trace(struct json_decoder *decoder, uint32_t device, struct error *err)
{
    bool more;

    if (!json_open(&decoder->reader, '[', "a list of events", &more, err) ||
        !decoder->sink->trace(decoder->sink->self, device, err))
        return false;
    while (more)
        if (!decode_event(decoder, device, err) || !json_more(&decoder->reader, '[', &more, err))
            return false;
    return true;
}

static bool read_history(struct json_decoder *decoder, struct block_history *history,
                         struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    uint64_t start;
    bool more;

    *history = (struct block_history){0};
    if (!json_open(reader, '[', "a block's history (an array)", &more, err))
        return false;
    for (bool first = true; more; first = false)
        if (!(first ? read_row(decoder, ROW_HISTORY, history, &history->seen, &start, NULL, err)
                    : json_skip(reader, err)) ||
            !json_more(reader, '[', &more, err))
            return false;
    return true;
}

static bool read_block_other(struct json_decoder *decoder, unsigned field, void *row,
                             struct error *err)
{
    struct block_draft *block = row;
    struct text text;
    uint64_t offset;

    if (field == BLOCK_HISTORY)
        return read_history(decoder, &block->history, err);
    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_string(&decoder->reader, row_field(ROW_BLOCK, BLOCK_STATE)->expected, &text,
                          err))
        return false;
    return block_state_of(text, &block->row.state) ||
           error_set_at(err, STATUS_BAD_INPUT, offset, "unknown block state '%.*s'",
                        text.size > 40 ? 40 : (int)text.size, text.bytes);
}

static bool read_blocks(struct json_decoder *decoder, unsigned field, void *row, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    bool more;

    (void)row; /* the fields needed for blocks without an address may come later */
    decoder->block_count = 0;
    if (!json_open(reader, '[', row_field(ROW_SEGMENT, field)->expected, &more, err))
        return false;
    while (more) {
        size_t count = decoder->block_count;
        struct block_draft block = {0};
        uint64_t start;

        if (!vec_reserve(decoder->blocks, decoder->block_capacity, count + 1, decoder->budget,
                         err) ||
            !vec_reserve(decoder->has_address, decoder->has_address_capacity, count + 1,
                         decoder->budget, err) ||
            !read_row(decoder, ROW_BLOCK, &block, &block.seen, &start, read_block_other, err) ||
            !block_finish(&block, start, err))
            return false;
        decoder->blocks[count] = block.row;
        decoder->has_address[count] = block.seen >> BLOCK_ADDRESS & 1;
        decoder->block_count++;
        if (!json_more(reader, '[', &more, err))
            return false;
    }
    return true;
}

static bool decode_segment(struct json_decoder *decoder, bool of_host, struct error *err)
{
    struct segment_row row = {0};
    uint32_t seen = 0;
    uint64_t start, address;

    decoder->block_count = 0;
    if (!read_row(decoder, ROW_SEGMENT, &row, &seen, &start, read_blocks, err) ||
        !fields_check(snapshot_rows[ROW_SEGMENT].fields, SEGMENT_FIELDS, seen, "a segment", start,
                      err))
        return false;
    address = row.address;
    for (size_t i = 0; i < decoder->block_count; i++)
        if (!block_place(&decoder->blocks[i], decoder->has_address[i], &address, start, err))
            return false;
    row.blocks = decoder->blocks;
    row.block_count = decoder->block_count;
    if (of_host)
        row.device = DEVICE_HOST;
    return decoder->sink->segment(decoder->sink->self, &row, err);
}

bool json_decode_segments(struct json_decoder *decoder, bool of_host, struct error *err)
{
    bool more;

    if (!json_open(&decoder->reader, '[', "segments (an array)", &more, err))
        return false;
    while (more)
        if (!decode_segment(decoder, of_host, err) || !json_more(&decoder->reader, '[', &more, err))
            return false;
    return true;
}

static bool read_stage(struct json_decoder *decoder, unsigned field, void *row, struct error *err)
{
    const char *expected = row_field(ROW_ANNOTATION, field)->expected;
    struct annotation_row *annotation = row;
    struct text text;
    uint64_t offset;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_string(&decoder->reader, expected, &text, err))
        return false;
    return annotation_stage_of(text, &annotation->stage) ||
           error_set_at(err, STATUS_BAD_INPUT, offset, "expected %s, found '%.*s'", expected,
                        text.size > 40 ? 40 : (int)text.size, text.bytes);
}

static bool decode_annotation(struct json_decoder *decoder, struct error *err)
{
    struct annotation_row row = {.time_us = TIME_NONE};
    uint32_t seen = 0;
    uint64_t start;

    return read_row(decoder, ROW_ANNOTATION, &row, &seen, &start, read_stage, err) &&
           fields_check(snapshot_rows[ROW_ANNOTATION].fields, ANNOTATION_FIELDS, seen,
                        "an annotation", start, err) &&
           decoder->sink->annotation(decoder->sink->self, &row, err);
}

bool json_decode_annotations(struct json_decoder *decoder, struct error *err)
{
    bool more;

    if (!json_open(&decoder->reader, '[', "external_annotations (an array)", &more, err))
        return false;
    while (more)
        if (!decode_annotation(decoder, err) || !json_more(&decoder->reader, '[', &more, err))
            return false;
    return true;
}
