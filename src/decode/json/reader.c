#include "decode/json/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "decode/json/scan.h"

void json_reader_init(struct json_reader *reader, struct source *source)
{
    *reader = (struct json_reader){.source = source};
}

void json_reader_release(struct json_reader *reader)
{
    buffer_release(&reader->text);
    budget_give(reader->source->budget, reader->text_counted);
    reader->text_counted = 0;
}

bool json_begin(struct json_reader *reader, struct error *err)
{
    struct source *source = reader->source;

    if (!source_fill(source, 3, err))
        return false;
    if (source->end - source->pos >= 3 && memcmp(source->pos, "\xef\xbb\xbf", 3) == 0)
        source->pos += 3;
    return true;
}

bool json_peek_far(struct json_reader *reader, uint8_t *byte, struct error *err)
{
    struct source *source = reader->source;

    while (source->pos == source->end && !source->at_eof) {
        if (!source_fill(source, 1, err))
            return false;
        while (json_is_space(*source->pos))
            source->pos++;
    }
    *byte = *source->pos;
    return true;
}

/* Names the value that begins here, for errors. */
static const char *describe(const struct source *source, char out[32])
{
    uint8_t c = *source->pos;

    if (source->pos == source->end)
        return "the end of the file";
    switch (c) {
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 't':
    case 'f':
        return "a truth value";
    case 'n':
        return "null";
    default:
        if (ascii_is_digit(c) || c == '-')
            return "a number";
        snprintf(out, 32, c > 0x20 && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
        return out;
    }
}

bool json_unexpected(struct json_reader *reader, const char *what, struct error *err)
{
    char found[32];
    uint8_t byte;

    if (!json_peek(reader, &byte, err)) /* the end of the file is only known after a read */
        return false;
    return error_set_at(err, STATUS_BAD_INPUT, source_offset(reader->source),
                        "expected %s, found %s", what, describe(reader->source, found));
}

static uint8_t closing(char open)
{
    return open == '{' ? '}' : ']';
}

bool json_open(struct json_reader *reader, char open, const char *what, bool *more,
               struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != (uint8_t)open)
        return json_unexpected(reader, what, err);
    reader->source->pos++;
    if (!json_peek(reader, &byte, err))
        return false;
    *more = byte != closing(open);
    if (!*more)
        reader->source->pos++;
    return true;
}

bool json_more(struct json_reader *reader, char open, bool *more, struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != ',' && byte != closing(open))
        return json_unexpected(reader, open == '{' ? "',' or '}'" : "',' or ']'", err);
    reader->source->pos++;
    *more = byte == ',';
    return true;
}

bool json_too_deep(struct json_reader *reader, struct error *err)
{
    return error_set_at(err, STATUS_LIMIT, source_offset(reader->source),
                        "nested more than %d levels deep", JSON_MAX_DEPTH);
}

bool json_nest_open(struct json_nest *nest, struct json_reader *reader, char open, bool *more,
                    struct error *err)
{
    if (nest->depth == JSON_MAX_DEPTH)
        return json_too_deep(reader, err);
    if (!json_open(reader, open, "a value", more, err))
        return false;
    if (*more)
        nest->open[nest->depth++] = open;
    return true;
}

/* Counts the memory that `size` bytes of text will need before they are stored. */
static bool reserve_text(struct json_reader *reader, size_t size, struct error *err)
{
    size_t need = size * 2 + 512; /* struct buffer doubles */

    if (need <= reader->text_counted)
        return true;
    if (!budget_take(reader->source->budget, need - reader->text_counted, err))
        return false;
    reader->text_counted = need;
    return true;
}

/* Decodes the token of `size` bytes at pos into reader->text. */
static bool unescape(struct json_reader *reader, size_t size, struct error *err)
{
    struct source *source = reader->source;
    size_t scratch = 8 * size; /* a copy, Jansson's token and its two results, each doubled */
    bool ok;

    if (!reserve_text(reader, size, err) || !budget_take(source->budget, scratch, err))
        return false;
    ok = json_unescape((const char *)source->pos, size, &reader->text);
    budget_give(source->budget, scratch);
    if (!ok)
        return error_out_of_memory(err);
    return true;
}

static struct text held_text(const struct json_reader *reader)
{
    const char *bytes = reader->text.bytes;

    return (struct text){bytes != NULL ? bytes : "", reader->text.size};
}

bool json_read_string(struct json_reader *reader, const char *what, struct text *text,
                      struct error *err)
{
    struct source *source = reader->source;
    uint8_t byte;
    size_t size;
    bool plain;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != '"')
        return json_unexpected(reader, what, err);
    const uint8_t *end = json_scan_plain(source->pos + 1);
    if (*end == '"' && end < source->end) {
        *text = (struct text){(const char *)source->pos + 1, (size_t)(end - source->pos) - 1};
        source->pos = end + 1;
        return true;
    }
    if (!json_scan_string(source, &size, &plain, err))
        return false;
    if (plain) {
        *text = (struct text){(const char *)source->pos + 1, size - 2};
    } else {
        if (!unescape(reader, size, err))
            return false;
        *text = held_text(reader);
    }
    source->pos += size;
    return true;
}

/* Reads a colon beyond the buffer. Moves the key's text elsewhere, because reading overwrites it.
 */
static bool far_colon(struct json_reader *reader, struct text *key, struct error *err)
{
    uint8_t byte;

    if (key->bytes != reader->text.bytes) {
        if (!reserve_text(reader, key->size, err))
            return false;
        buffer_clear(&reader->text);
        buffer_add(&reader->text, key->bytes, key->size);
        if (reader->text.failed)
            return error_out_of_memory(err);
        *key = held_text(reader);
    }
    if (!json_peek(reader, &byte, err))
        return false;
    return byte == ':' || json_unexpected(reader, "':'", err);
}

bool json_read_key(struct json_reader *reader, struct text *key, struct error *err)
{
    struct source *source = reader->source;
    struct text text;

    if (!json_read_string(reader, "a key in double quotes", &text, err))
        return false;
    while (json_is_space(*source->pos))
        source->pos++;
    if (*source->pos != ':' && !far_colon(reader, &text, err))
        return false;
    source->pos++;
    *key = text;
    return true;
}

bool json_finish(struct json_reader *reader, struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (reader->source->pos != reader->source->end)
        return json_unexpected(reader, "the end of the file", err);
    return true;
}
