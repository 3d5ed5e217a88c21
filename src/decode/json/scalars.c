/* Numbers and literals, and values that are skipped. */
#include <string.h>

#include "base/ascii.h"
#include "decode/json/scan.h"

#define LONGEST_LITERAL 16 /* "-Infinity" and the byte after it */

#define BYTES_AFTER 4 /* the bytes after a number that decide where it ends: "e+1" */

/* Makes `count` bytes available if the input has them. */
static void ahead(struct source *source, size_t count)
{
    if ((size_t)(source->end - source->pos) < count && !source->at_eof)
        source_look_ahead(source, count);
}

/* Returns false, with the error, if reading failed so close after `end` that the bytes there might
 * belong to the token. */
static bool is_whole(struct source *source, const uint8_t *end, size_t enough, struct error *err)
{
    size_t after = (size_t)(source->end - end);
    return !source->failed || after >= enough ||
           source_fill(source, (size_t)(source->end - source->pos) + 1, err);
}

/* The end of the number that begins at `p` by JSON's grammar, or NULL if there is none. */
static const uint8_t *number_end(const uint8_t *p, bool *integer)
{
    if (*p == '-')
        p++;
    if (!ascii_is_digit(*p))
        return NULL;
    if (*p++ != '0')
        while (ascii_is_digit(*p))
            p++;
    *integer = true;
    if (*p == '.' && ascii_is_digit(p[1])) {
        *integer = false;
        for (p++; ascii_is_digit(*p); p++)
            ;
    }
    if (*p == 'e' || *p == 'E') {
        size_t sign = p[1] == '+' || p[1] == '-';

        if (ascii_is_digit(p[1 + sign])) {
            *integer = false;
            for (p += 1 + sign; ascii_is_digit(*p); p++)
                ;
        }
    }
    return p;
}

bool json_read_number(struct json_reader *reader, struct json_number *number, struct error *err)
{
    struct source *source = reader->source;
    const uint8_t *end;
    uint8_t byte;
    bool integer;

    if (!json_peek(reader, &byte, err))
        return false;
    ahead(source, JSON_MAX_NUMBER + BYTES_AFTER);
    end = number_end(source->pos, &integer);
    if (!is_whole(source, end ? end : source->pos, BYTES_AFTER, err))
        return false;
    if (end == NULL)
        return json_unexpected(reader, "a number", err);
    if (end - source->pos > JSON_MAX_NUMBER)
        return error_set_at(err, STATUS_LIMIT, source_offset(source),
                            "a number of more than %d characters", JSON_MAX_NUMBER);
    *number = (struct json_number){(const char *)source->pos, (size_t)(end - source->pos), integer};
    source->pos = end;
    return true;
}

bool json_read_integer(struct json_reader *reader, const char *what, struct json_integer *integer,
                       struct error *err)
{
    struct source *source = reader->source;
    const uint8_t *p;
    uint64_t magnitude = 0;
    uint8_t byte;
    bool negative, overflow = false;

    if (!json_peek(reader, &byte, err))
        return false;
    ahead(source, JSON_MAX_NUMBER + BYTES_AFTER);
    negative = byte == '-';
    p = source->pos + negative;
    if (!is_whole(source, p, BYTES_AFTER, err))
        return false;
    if (!ascii_is_digit(*p))
        return json_unexpected(reader, what, err);
    if (*p == '0')
        p++; /* the number must end here */
    else
        for (; ascii_is_digit(*p) && !overflow; p++)
            overflow = __builtin_mul_overflow(magnitude, 10, &magnitude) ||
                       __builtin_add_overflow(magnitude, (uint64_t)(*p - '0'), &magnitude);
    if (!is_whole(source, p, BYTES_AFTER, err))
        return false;
    if (overflow)
        return error_set_at(err, STATUS_BAD_INPUT, source_offset(source),
                            "expected %s, found a number beyond 64 bits", what);
    if (*p == '.' || *p == 'e' || *p == 'E')
        return error_set_at(err, STATUS_BAD_INPUT, source_offset(source),
                            "expected %s, found a number that is not whole", what);
    source->pos = p;
    *integer = (struct json_integer){magnitude, negative && magnitude != 0};
    return true;
}

bool json_read_literal(struct json_reader *reader, enum json_literal *literal, struct error *err)
{
    static const struct {
        const char *text;
        size_t size;
        enum json_literal literal;
    } known[] = {
        {"true", 4, JSON_LITERAL_TRUE},         {"false", 5, JSON_LITERAL_FALSE},
        {"null", 4, JSON_LITERAL_NULL},         {"NaN", 3, JSON_LITERAL_NAN},
        {"Infinity", 8, JSON_LITERAL_INFINITY}, {"-Infinity", 9, JSON_LITERAL_MINUS_INFINITY},
    };
    struct source *source = reader->source;
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    ahead(source, LONGEST_LITERAL);
    *literal = JSON_LITERAL_NONE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (memcmp(source->pos, known[i].text, known[i].size) ==
            0) { /* safe because of the padding */
            *literal = known[i].literal;
            source->pos += known[i].size;
            return true;
        }
    }
    return is_whole(source, source->pos, LONGEST_LITERAL, err);
}

bool json_take_null(struct json_reader *reader, bool *taken, struct error *err)
{
    enum json_literal literal = JSON_LITERAL_NONE;
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte == 'n' && !json_read_literal(reader, &literal, err))
        return false;
    *taken = literal == JSON_LITERAL_NULL;
    return true;
}

static bool skip_scalar(struct json_reader *reader, uint8_t first, struct error *err)
{
    enum json_literal literal;
    struct json_number number;

    if (first == '"')
        return json_scan_string(reader->source, NULL, NULL, err);
    if (ascii_is_digit(first))
        return json_read_number(reader, &number, err);
    if (!json_read_literal(reader, &literal, err))
        return false;
    if (literal != JSON_LITERAL_NONE)
        return true;
    if (first != '-')
        return json_unexpected(reader, "a value", err);
    return json_read_number(reader, &number, err);
}

/* Consumes a key without keeping it. */
static bool skip_key(struct json_reader *reader, struct error *err)
{
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != '"')
        return json_unexpected(reader, "a key in double quotes", err);
    if (!json_scan_string(reader->source, NULL, NULL, err) || !json_peek(reader, &byte, err))
        return false;
    if (byte != ':')
        return json_unexpected(reader, "':'", err);
    reader->source->pos++;
    return true;
}

bool json_skip(struct json_reader *reader, struct error *err)
{
    struct json_nest nest;

    for (nest.depth = 0;;) {
        bool more = false;
        uint8_t byte;

        if (!json_peek(reader, &byte, err))
            return false;
        if (byte == '{' || byte == '[') {
            if (!json_nest_open(&nest, reader, (char)byte, &more, err))
                return false;
        } else if (!skip_scalar(reader, byte, err)) {
            return false;
        }
        while (!more && nest.depth > 0) {
            if (!json_more(reader, nest.open[nest.depth - 1], &more, err))
                return false;
            nest.depth -= !more;
        }
        if (nest.depth == 0)
            return true;
        if (nest.open[nest.depth - 1] == '{' && !skip_key(reader, err))
            return false;
    }
}

/* The first quote or bracket at or after `p`, or the first byte of the padding. */
static const uint8_t *find_structure(const uint8_t *p)
{
    static const bool is_plain[256] = {
        [1 ... '"' - 1] = true, ['"' + 1 ... '[' - 1] = true,
        ['\\'] = true,          ['^' ... '{' - 1] = true,
        ['|'] = true,           ['~' ... 255] = true,
    };
    while (is_plain[*p])
        p++;
    return p;
}

bool json_leave(struct json_reader *reader, struct error *err)
{
    struct source *source = reader->source;
    const uint8_t *end = json_find_end(reader);
    size_t depth = 1;

    if (end) {
        source->pos = end;
        return true;
    }
    for (;;) {
        const uint8_t *p = find_structure(source->pos);
        uint8_t byte;

        source->pos = p < source->end ? p : source->end;
        if (!json_peek(reader, &byte, err))
            return false;
        if (byte == '"') {
            if (!json_scan_string(source, NULL, NULL, err))
                return false;
            continue;
        }
        if (source->pos == source->end)
            return json_unexpected(reader, "the end of an object or an array", err);
        source->pos++;
        if (byte == '{' || byte == '[')
            depth++;
        else if ((byte == '}' || byte == ']') && --depth == 0)
            return true;
    }
}
