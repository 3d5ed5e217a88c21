#include <string.h>

#include "decode/json/decoder.h"

enum field {
    FIELD_ACTION,
    FIELD_ADDR,
    FIELD_SIZE,
    FIELD_STREAM,
    FIELD_TIME_US,
    FIELD_COMPILE_CONTEXT,
    FIELD_USER_METADATA,
    FIELD_FRAMES,
    FIELD_POOL_ID,
    FIELD_FORWARD_FRAMES,
    FIELD_CATEGORY,
    FIELD_DEVICE_FREE,
    FIELD_COUNT,
};

static const struct text field_names[FIELD_COUNT] = {
    [FIELD_ACTION] = JSON_NAME("action"),
    [FIELD_ADDR] = JSON_NAME("addr"),
    [FIELD_SIZE] = JSON_NAME("size"),
    [FIELD_STREAM] = JSON_NAME("stream"),
    [FIELD_TIME_US] = JSON_NAME("time_us"),
    [FIELD_COMPILE_CONTEXT] = JSON_NAME("compile_context"),
    [FIELD_USER_METADATA] = JSON_NAME("user_metadata"),
    [FIELD_FRAMES] = JSON_NAME("frames"),
    [FIELD_POOL_ID] = JSON_NAME("pool_id"),
    [FIELD_FORWARD_FRAMES] = JSON_NAME("forward_frames"),
    [FIELD_CATEGORY] = JSON_NAME("category"),
    [FIELD_DEVICE_FREE] = JSON_NAME("device_free"),
};

/* An event while its keys come in. */
struct draft {
    struct event_row row;
    uint64_t device_free;
    unsigned seen; /* bit per enum field */
};

static bool read_action(struct json_decoder *decoder, struct event_row *row, struct error *err)
{
    struct text text;
    unsigned index;

    if (!json_read_string(&decoder->reader, "an action (a string)", &text, err))
        return false;
    index = json_name_index(action_texts, ACTION_OTHER, text);
    if (index == ACTION_OTHER) {
        row->action = ACTION_OTHER;
        return symbols_string(decoder->symbols, text.bytes, text.size, &row->action_name, err);
    }
    row->action = (enum action)index;
    if (decoder->action_names[index] == STRING_EMPTY &&
        !symbols_string(decoder->symbols, text.bytes, text.size, &decoder->action_names[index],
                        err))
        return false;
    row->action_name = decoder->action_names[index];
    return true;
}

/* A string that is mostly the same as in the event before. */
static bool read_repeated(struct json_decoder *decoder, struct json_last_string *last,
                          string_id *id, struct error *err)
{
    struct text text;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte != '"')
        return json_value_text(decoder, id, err);
    if (!json_read_string(&decoder->reader, "a string", &text, err))
        return false;
    if (last->text.bytes == NULL || last->text.size != text.size ||
        memcmp(last->text.bytes, text.bytes, text.size) != 0) {
        if (!symbols_string(decoder->symbols, text.bytes, text.size, &last->id, err))
            return false;
        last->text = symbols_text(decoder->symbols, last->id);
    }
    *id = last->id;
    return true;
}

/* Undoes what an earlier key of the same name set, as null means absent. */
static void reset_field(struct draft *draft, enum field field)
{
    struct event_extra *extra = &draft->row.extra;

    draft->seen &= ~(1u << field);
    if (field == FIELD_ADDR)
        draft->row.addr = 0;
    else if (field == FIELD_SIZE)
        draft->row.size = 0;
    else if (field == FIELD_FRAMES)
        draft->row.stack = STACK_NONE;
    else if (field == FIELD_FORWARD_FRAMES)
        extra->forward_stack = STACK_NONE;
    else if (field == FIELD_STREAM)
        extra->stream = 0;
    else if (field == FIELD_TIME_US)
        draft->row.time_us = TIME_NONE;
    else if (field == FIELD_COMPILE_CONTEXT)
        extra->compile_context = STRING_EMPTY;
    else if (field == FIELD_USER_METADATA)
        extra->user_metadata = STRING_EMPTY;
    else if (field == FIELD_CATEGORY)
        extra->category = STRING_EMPTY;
    else if (field == FIELD_POOL_ID)
        extra->pool[0] = extra->pool[1] = 0;
}

static bool read_field(struct json_decoder *decoder, enum field field, struct draft *draft,
                       struct error *err)
{
    struct event_row *row = &draft->row;

    draft->seen |= 1u << field;
    switch (field) {
    case FIELD_ACTION:
        return read_action(decoder, row, err);
    case FIELD_ADDR:
        return json_value_u64(decoder, "an address (an integer from 0)", &row->addr, err);
    case FIELD_SIZE:
        return json_value_u64(decoder, "a size (an integer from 0)", &row->size, err);
    case FIELD_STREAM:
        return json_value_bits(decoder, "a stream (an integer)", &row->extra.stream, err);
    case FIELD_TIME_US:
        return json_value_i64(decoder, "a time (an integer)", &row->time_us, err);
    case FIELD_COMPILE_CONTEXT:
        return read_repeated(decoder, &decoder->compile_context, &row->extra.compile_context, err);
    case FIELD_USER_METADATA:
        return read_repeated(decoder, &decoder->user_metadata, &row->extra.user_metadata, err);
    case FIELD_CATEGORY:
        return read_repeated(decoder, &decoder->category, &row->extra.category, err);
    case FIELD_FRAMES:
        return json_frames_read(&decoder->frames, &row->stack, err);
    case FIELD_FORWARD_FRAMES:
        return json_frames_read(&decoder->frames, &row->extra.forward_stack, err);
    case FIELD_POOL_ID:
        return json_value_pool(decoder, row->extra.pool, err);
    case FIELD_DEVICE_FREE:
        return json_value_u64(decoder, "device_free (an integer from 0)", &draft->device_free, err);
    case FIELD_COUNT:
        break;
    }
    return false;
}

/* Of the others it is only known that they happened. */
static bool has_size(enum action action)
{
    return action <= ACTION_OOM;
}

static bool has_addr(enum action action)
{
    return action <= ACTION_SEGMENT_UNMAP;
}

/* Hands the event to the sink, if nothing is missing. */
static bool commit(struct json_decoder *decoder, uint32_t device, struct draft *draft,
                   uint64_t start, struct error *err)
{
    struct event_row *row = &draft->row;

    if (!(draft->seen & 1u << FIELD_ACTION))
        return json_missing(start, "an event", "action", err);
    if (has_size(row->action) && !(draft->seen & 1u << FIELD_SIZE))
        return json_missing(start, "an event", "size", err);
    if (has_addr(row->action) && !(draft->seen & 1u << FIELD_ADDR))
        return json_missing(start, "an event", "addr", err);
    if (row->action == ACTION_OOM && draft->seen & 1u << FIELD_DEVICE_FREE)
        row->addr = draft->device_free;
    return decoder->sink->event(decoder->sink->self, device, row, err);
}

static bool decode_event(struct json_decoder *decoder, uint32_t device, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    struct draft draft = {.row.time_us = TIME_NONE};
    unsigned expected = 0; /* the field that came next in the usual order */
    uint64_t start;
    bool more;

    if (!json_offset(reader, &start, err) ||
        !json_open(reader, '{', "an event (an object)", &more, err))
        return false;
    while (more) {
        struct text key;
        unsigned field;
        uint8_t byte;
        bool null = false;

        if (!json_read_key(reader, &key, err))
            return false;
        if (expected < FIELD_COUNT && json_name_index(&field_names[expected], 1, key) == 0)
            field = expected;
        else
            field = json_name_index(field_names, FIELD_COUNT, key);
        expected = field + 1;
        if (field == FIELD_COUNT) {
            if (!json_unknown(decoder, JSON_IN_EVENT, key, err))
                return false;
        } else {
            if (!json_peek(reader, &byte, err))
                return false;
            if (byte == 'n' && field != FIELD_ACTION && !json_take_null(reader, &null, err))
                return false;
            if (null)
                reset_field(&draft, (enum field)field);
            else if (!read_field(decoder, (enum field)field, &draft, err))
                return false;
        }
        if (!json_more(reader, '{', &more, err))
            return false;
    }
    return commit(decoder, device, &draft, start, err);
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
