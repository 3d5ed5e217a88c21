/* Reads single values of a snapshot in JSON. */
#include <string.h>

#include "base/ascii.h"
#include "decode/json/decoder.h"
#include "decode/json/scan.h"

/* Makes room for this id in `told`. */
static bool reserve_told(struct json_decoder *decoder, string_id id, struct error *err)
{
    if (id < decoder->told_count)
        return true;
    if (!vec_reserve(decoder->told, decoder->told_capacity, (size_t)id + 1, decoder->budget, err))
        return false;
    memset(decoder->told + decoder->told_count, 0, decoder->told_capacity - decoder->told_count);
    decoder->told_count = decoder->told_capacity;
    return true;
}

bool json_unknown(struct json_decoder *decoder, enum row_kind kind, struct text key,
                  struct error *err)
{
    const struct row_sink *sink = decoder->sink;
    string_id id;

    if (!snapshot_rows[kind].tells_unknown_keys)
        return json_skip(&decoder->reader, err);
    if (!symbols_string(decoder->symbols, key.bytes, key.size, &id, err) ||
        !reserve_told(decoder, id, err))
        return false;
    if (!(decoder->told[id] & 1u << kind)) {
        decoder->told[id] = (uint8_t)(decoder->told[id] | 1u << kind);
        if (!sink->unknown_key(sink->self, snapshot_rows[kind].name, id, err))
            return false;
    }
    return json_skip(&decoder->reader, err);
}

bool json_intern(struct json_decoder *decoder, struct text text, string_id *id, struct error *err)
{
    uint8_t mix = text.size > 0 ? (uint8_t)(text.bytes[0] ^ text.bytes[text.size - 1]) : 0;
    struct json_recent_string *recent = &decoder->recent[(text.size + mix) % JSON_RECENT_STRINGS];

    if (recent->text.bytes == NULL || recent->text.size != text.size ||
        memcmp(recent->text.bytes, text.bytes, text.size) != 0) {
        if (!symbols_string(decoder->symbols, text.bytes, text.size, &recent->id, err)) {
            recent->text.bytes = NULL;
            return false;
        }
        recent->text = symbols_text(decoder->symbols, recent->id);
    }
    *id = recent->id;
    return true;
}

static bool store_integer(struct json_decoder *decoder, const struct field *field, void *row,
                          struct error *err)
{
    struct json_integer integer;
    uint64_t offset;

    return json_offset(&decoder->reader, &offset, err) &&
           json_read_integer(&decoder->reader, field->expected, &integer, err) &&
           field_set_integer(field, row, integer.negative, integer.magnitude, offset, err);
}

static bool store_loose_bool(struct json_decoder *decoder, bool *out, struct error *err)
{
    enum json_literal literal = JSON_LITERAL_NONE;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if ((byte == 't' || byte == 'f') && !json_read_literal(&decoder->reader, &literal, err))
        return false;
    *out = literal == JSON_LITERAL_TRUE;
    return literal != JSON_LITERAL_NONE || json_skip(&decoder->reader, err);
}

static bool store_loose_string(struct json_decoder *decoder, string_id *out, struct error *err)
{
    struct text text;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte != '"') {
        *out = STRING_EMPTY;
        return json_skip(&decoder->reader, err);
    }
    return json_read_string(&decoder->reader, "a string", &text, err) &&
           json_intern(decoder, text, out, err);
}

static bool store_any_text(struct json_decoder *decoder, string_id *out, struct error *err)
{
    struct buffer *text = &decoder->text;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte == '"')
        return store_loose_string(decoder, out, err);
    return json_python_clip(&decoder->reader, text, err) &&
           json_intern(decoder, (struct text){text->bytes, text->size}, out, err);
}

static bool store_pool(struct json_decoder *decoder, const struct field *field, uint64_t pool[2],
                       struct error *err)
{
    static const struct field numbers[] = {
        {.expected = "two integers from 0", .kind = FIELD_NATURAL, .offset = 0},
        {.expected = "two integers from 0", .kind = FIELD_NATURAL, .offset = sizeof(uint64_t)},
    };
    static const struct field single = {
        .expected = "two integers from 0", .kind = FIELD_ADDRESS, .offset = 0};
    uint64_t offset, pair[2] = {0};
    uint8_t byte;
    bool more;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte == '-' || ascii_is_digit(byte)) {
        if (!store_integer(decoder, &single, pair, err))
            return false;
        memcpy(pool, pair, sizeof(pair));
        return true;
    }
    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_open(&decoder->reader, '[', field->expected, &more, err))
        return false;
    for (unsigned i = 0; i < 2 && more; i++) {
        if (!store_integer(decoder, &numbers[i], pair, err) ||
            !json_more(&decoder->reader, '[', &more, err))
            return false;
        if (more != (i == 0))
            break;
        if (i == 1) {
            memcpy(pool, pair, sizeof(pair));
            return true;
        }
    }
    return field_expected(field, "an array of another length", offset, err);
}

bool json_store(struct json_decoder *decoder, const struct field *field, void *row,
                struct error *err)
{
    void *at = field_at(field, row);

    switch ((enum field_kind)field->kind) {
    case FIELD_LOOSE_STRING:
        return store_loose_string(decoder, at, err);
    case FIELD_ANY_TEXT:
        return store_any_text(decoder, at, err);
    case FIELD_LOOSE_BOOL:
        return store_loose_bool(decoder, at, err);
    case FIELD_STACK:
        return json_frames_read(&decoder->frames, at, err);
    case FIELD_POOL:
        return store_pool(decoder, field, at, err);
    default:
        return store_integer(decoder, field, row, err);
    }
}
