#include <string.h>

#include "decode/json/decoder.h"

enum field {
    FIELD_ADDRESS,
    FIELD_SIZE,
    FIELD_REQUESTED_SIZE,
    FIELD_STATE,
    FIELD_FRAMES,
    FIELD_HISTORY,
    FIELD_COUNT,
};

static const struct text field_names[FIELD_COUNT] = {
    [FIELD_ADDRESS] = JSON_NAME("address"),
    [FIELD_SIZE] = JSON_NAME("size"),
    [FIELD_REQUESTED_SIZE] = JSON_NAME("requested_size"),
    [FIELD_STATE] = JSON_NAME("state"),
    [FIELD_FRAMES] = JSON_NAME("frames"),
    [FIELD_HISTORY] = JSON_NAME("history"),
};

static const struct {
    struct text name;
    enum block_state state;
} states[] = {
    {JSON_NAME("active_allocated"), BLOCK_ACTIVE_ALLOCATED},
    {JSON_NAME("active_pending_free"), BLOCK_ACTIVE_PENDING_FREE},
    {JSON_NAME("active_awaiting_free"), BLOCK_ACTIVE_PENDING_FREE},
    {JSON_NAME("inactive"), BLOCK_INACTIVE},
};

/* What torch 2.0 has in place of requested_size and frames; of several items the first counts. */
struct history {
    bool has_size;
    uint64_t real_size;
    stack_id stack;
};

static bool read_state(struct json_decoder *decoder, enum block_state *state, struct error *err)
{
    uint64_t offset;
    struct text text;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_string(&decoder->reader, "a block's state (a string)", &text, err))
        return false;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (json_name_index(&states[i].name, 1, text) == 0) {
            *state = states[i].state;
            return true;
        }
    }
    return error_set_at(err, STATUS_BAD_INPUT, offset, "unknown block state '%.*s'",
                        text.size > 40 ? 40 : (int)text.size, text.bytes);
}

static bool read_first_history(struct json_decoder *decoder, struct history *history,
                               struct error *err)
{
    static const struct text real_size = JSON_NAME("real_size");
    static const struct text frames = JSON_NAME("frames");
    struct json_reader *reader = &decoder->reader;
    bool more;

    if (!json_open(reader, '{', "an item of a block's history (an object)", &more, err))
        return false;
    while (more) {
        struct text key;
        bool ok;

        if (!json_read_key(reader, &key, err))
            return false;
        if (json_name_index(&real_size, 1, key) == 0) {
            history->has_size = true;
            ok = json_value_u64(decoder, "a size (an integer from 0)", &history->real_size, err);
        } else if (json_name_index(&frames, 1, key) == 0) {
            ok = json_frames_read(&decoder->frames, &history->stack, err);
        } else {
            ok = json_skip(reader, err); /* addr, which the block has too */
        }
        if (!ok || !json_more(reader, '{', &more, err))
            return false;
    }
    return true;
}

static bool read_history(struct json_decoder *decoder, struct history *history, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    bool more;

    *history = (struct history){0};
    if (!json_open(reader, '[', "a block's history (an array)", &more, err))
        return false;
    for (bool first = true; more; first = false)
        if (!(first ? read_first_history(decoder, history, err) : json_skip(reader, err)) ||
            !json_more(reader, '[', &more, err))
            return false;
    return true;
}

static bool read_field(struct json_decoder *decoder, enum field field, struct block_row *row,
                       struct history *history, struct error *err)
{
    switch (field) {
    case FIELD_ADDRESS:
        return json_value_u64(decoder, "an address (an integer from 0)", &row->address, err);
    case FIELD_SIZE:
        return json_value_u64(decoder, "a size (an integer from 0)", &row->size, err);
    case FIELD_REQUESTED_SIZE:
        return json_value_u64(decoder, "a size (an integer from 0)", &row->requested_size, err);
    case FIELD_STATE:
        return read_state(decoder, &row->state, err);
    case FIELD_FRAMES:
        return json_frames_read(&decoder->frames, &row->stack, err);
    case FIELD_HISTORY:
        return read_history(decoder, history, err);
    case FIELD_COUNT:
        break;
    }
    return false;
}

bool json_decode_block(struct json_decoder *decoder, struct block_row *out, bool *has_address,
                       struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    struct block_row row = {0};
    struct history history = {0};
    unsigned seen = 0;
    uint64_t start;
    bool more;

    if (!json_offset(reader, &start, err) ||
        !json_open(reader, '{', "a block (an object)", &more, err))
        return false;
    while (more) {
        struct text key;
        unsigned field;
        bool null = false;

        if (!json_read_key(reader, &key, err))
            return false;
        field = json_name_index(field_names, FIELD_COUNT, key);
        if (field == FIELD_COUNT) {
            if (!json_unknown(decoder, JSON_IN_BLOCK, key, err))
                return false;
        } else {
            if (!json_take_null(reader, &null, err))
                return false;
            seen = null ? seen & ~(1u << field) : seen | 1u << field;
            if (!null && !read_field(decoder, (enum field)field, &row, &history, err))
                return false;
        }
        if (!json_more(reader, '{', &more, err))
            return false;
    }
    if (!(seen & 1u << FIELD_SIZE))
        return json_missing(start, "a block", "size", err);
    if (!(seen & 1u << FIELD_STATE))
        return json_missing(start, "a block", "state", err);
    if (!(seen & 1u << FIELD_HISTORY))
        history = (struct history){0};
    if (!(seen & 1u << FIELD_REQUESTED_SIZE))
        row.requested_size = history.has_size ? history.real_size : row.size;
    if (!(seen & 1u << FIELD_FRAMES) || row.stack == STACK_NONE)
        row.stack = history.stack;
    *has_address = seen & 1u << FIELD_ADDRESS;
    *out = row;
    return true;
}
