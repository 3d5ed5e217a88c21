#include <string.h>

#include "decode/json/decoder.h"

static const char *const place_names[] = {"snapshot", "segment", "block", "event", "annotation"};

/* Room in `told` for this id. */
static bool reserve_told(struct json_decoder *decoder, string_id id, struct error *err)
{
    if (id < decoder->told_count)
        return true;
    if (!vec_grow((void **)&decoder->told, &decoder->told_capacity, (size_t)id + 1, 1,
                  decoder->budget, err))
        return false;
    memset(decoder->told + decoder->told_count, 0, decoder->told_capacity - decoder->told_count);
    decoder->told_count = decoder->told_capacity;
    return true;
}

bool json_unknown(struct json_decoder *decoder, enum json_place place, struct text key,
                  struct error *err)
{
    string_id id;

    if (!symbols_string(decoder->symbols, key.bytes, key.size, &id, err) ||
        !reserve_told(decoder, id, err))
        return false;
    if (!(decoder->told[id] & 1u << place)) {
        decoder->told[id] = (uint8_t)(decoder->told[id] | 1u << place);
        if (!decoder->sink->unknown_key(decoder->sink->self, place_names[place], id, err))
            return false;
    }
    return json_skip(&decoder->reader, err);
}

bool json_missing(uint64_t start, const char *object, const char *key, struct error *err)
{
    return error_set_at(err, STATUS_BAD_INPUT, start, "%s without '%s'", object, key);
}

bool json_value_u64(struct json_decoder *decoder, const char *what, uint64_t *value,
                    struct error *err)
{
    struct json_integer integer;
    uint64_t offset;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_integer(&decoder->reader, what, &integer, err))
        return false;
    if (integer.negative)
        return error_set_at(err, STATUS_BAD_INPUT, offset, "expected %s, found a negative number",
                            what);
    *value = integer.magnitude;
    return true;
}

bool json_value_i64(struct json_decoder *decoder, const char *what, int64_t *value,
                    struct error *err)
{
    struct json_integer integer;
    uint64_t offset;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_integer(&decoder->reader, what, &integer, err))
        return false;
    if (integer.magnitude > (uint64_t)INT64_MAX + integer.negative)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected %s, found a number beyond 63 bits", what);
    *value = (int64_t)(integer.negative ? 0 - integer.magnitude : integer.magnitude);
    return true;
}

bool json_value_bits(struct json_decoder *decoder, const char *what, int64_t *value,
                     struct error *err)
{
    struct json_integer integer;
    uint64_t offset;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_integer(&decoder->reader, what, &integer, err))
        return false;
    if (integer.negative && integer.magnitude > (uint64_t)INT64_MAX + 1)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected %s, found a number beyond 64 bits", what);
    *value = (int64_t)(integer.negative ? 0 - integer.magnitude : integer.magnitude);
    return true;
}

bool json_value_device(struct json_decoder *decoder, uint32_t *value, struct error *err)
{
    static const char what[] = "a device (an integer from 0)";
    uint64_t offset, wide;

    if (!json_offset(&decoder->reader, &offset, err) || !json_value_u64(decoder, what, &wide, err))
        return false;
    if (wide > INT32_MAX)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected %s, found a number beyond 31 bits", what);
    *value = (uint32_t)wide;
    return true;
}

bool json_value_bool(struct json_decoder *decoder, bool *value, struct error *err)
{
    enum json_literal literal = JSON_LITERAL_NONE;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte != 't' && byte != 'f')
        *value = false;
    else if (!json_read_literal(&decoder->reader, &literal, err))
        return false;
    else
        *value = literal == JSON_LITERAL_TRUE;
    return literal != JSON_LITERAL_NONE || json_skip(&decoder->reader, err);
}

bool json_value_text(struct json_decoder *decoder, string_id *value, struct error *err)
{
    struct text text;
    uint8_t byte;

    if (!json_peek(&decoder->reader, &byte, err))
        return false;
    if (byte != '"') {
        *value = STRING_EMPTY;
        return json_skip(&decoder->reader, err);
    }
    return json_read_string(&decoder->reader, "a string", &text, err) &&
           symbols_string(decoder->symbols, text.bytes, text.size, value, err);
}

bool json_value_pool(struct json_decoder *decoder, uint64_t pool[2], struct error *err)
{
    static const char what[] = "a pool id (two integers from 0)";
    uint64_t offset, pair[2];
    bool more;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_open(&decoder->reader, '[', what, &more, err))
        return false;
    for (unsigned i = 0; i < 2 && more; i++) {
        if (!json_value_u64(decoder, what, &pair[i], err) ||
            !json_more(&decoder->reader, '[', &more, err))
            return false;
        if (more != (i == 0))
            break;
        if (i == 1) {
            memcpy(pool, pair, sizeof(pair));
            return true;
        }
    }
    return error_set_at(err, STATUS_BAD_INPUT, offset,
                        "expected %s, found an array of another length", what);
}
