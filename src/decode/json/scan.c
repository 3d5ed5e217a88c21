#include "decode/json/scan.h"

#include <jansson.h>
#include <string.h>

#include "base/ascii.h"

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Length of the UTF-8 sequence at `p`, 0 if it is invalid. Does not read beyond the first invalid
 * byte. */
static size_t utf8_sequence(const uint8_t *p)
{
    if (p[0] < 0xc2 || p[0] > 0xf4 || !is_continuation(p[1]))
        return 0;
    if (p[0] < 0xe0)
        return 2;
    if (!is_continuation(p[2]))
        return 0;
    if (p[0] < 0xf0) /* neither overlong nor a surrogate */
        return (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ? 0 : 3;
    if (!is_continuation(p[3]) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return 4;
}

static bool is_hex(uint8_t c)
{
    return ascii_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of the escape sequence that the backslash at `p` begins, 0 if it is invalid. */
static size_t escape_sequence(const uint8_t *p)
{
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]) && is_hex(p[5]) ? 6 : 0;
    default:
        return 0;
    }
}

/* Steps over one escape or multi-byte character at `p`. At least 6 bytes, or all to the end of the
 * input, must be available. */
static bool step_special(const struct source *source, const uint8_t *p, size_t *length,
                         struct error *err)
{
    uint64_t offset = source_offset(source) + (uint64_t)(p - source->pos);

    *length = *p == '\\' ? escape_sequence(p) : *p >= 0x80 ? utf8_sequence(p) : 0;
    if (*length != 0)
        return true;
    if (*p == '\\')
        return error_set_at(err, STATUS_BAD_INPUT, offset, "bad escape in a string");
    if (*p >= 0x80)
        return error_set_at(err, STATUS_BAD_INPUT, offset, "invalid UTF-8 in a string");
    return error_set_at(err, STATUS_BAD_INPUT, offset, "control character 0x%02x in a string", *p);
}

bool json_scan_string(struct source *source, size_t *size, bool *plain, struct error *err)
{
    uint64_t start = source_offset(source);
    bool escapes = false;
    size_t at = 1, length;

    for (;;) {
        const uint8_t *p = json_scan_plain(source->pos + at);

        at = (size_t)(p - source->pos);
        if (p < source->end && *p == '"')
            break;
        if (source->end - p < 6 && !source->at_eof) {
            if (size == NULL) { /* scanned bytes need not be kept */
                source->pos = p;
                at = 0;
            }
            if (!source_fill(source, at + 6, err))
                return false;
            continue;
        }
        if (p >= source->end)
            return error_set_at(err, STATUS_BAD_INPUT, source_offset(source) + at,
                                "the file ends inside the string that begins at byte %llu",
                                (unsigned long long)start);
        if (!step_special(source, p, &length, err))
            return false;
        escapes |= *p == '\\';
        at += length;
    }
    if (size == NULL) {
        source->pos += at + 1;
        return true;
    }
    *size = at + 1;
    *plain = !escapes;
    return true;
}

static unsigned hex_digit(char c)
{
    if (c <= '9')
        return (unsigned)(c - '0');
    return (unsigned)((c | 0x20) - 'a' + 10);
}

/* The code unit of the \uXXXX at `p`, or 0 if there is none. */
static unsigned code_unit(const char *p, const char *end)
{
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return 0;
    return hex_digit(p[2]) << 12 | hex_digit(p[3]) << 8 | hex_digit(p[4]) << 4 | hex_digit(p[5]);
}

static bool is_surrogate(unsigned unit)
{
    return unit >= 0xd800 && unit <= 0xdfff;
}

/* The first lone surrogate escape at or after `p`, or `end`. */
static const char *find_lone(const char *p, const char *end)
{
    while (p < end) {
        unsigned unit;

        p = memchr(p, '\\', (size_t)(end - p));
        if (p == NULL)
            return end;
        unit = code_unit(p, end);
        if (is_surrogate(unit)) {
            unsigned next = code_unit(p + 6, end);

            if (unit >= 0xdc00 || next < 0xdc00 || next > 0xdfff)
                return p;
            p += 12;
        } else {
            p += p[1] == 'u' ? 6 : 2;
        }
    }
    return end;
}

/* Appends the decoded text of `[begin, end)`, a part of the inside of a string. */
static bool add_piece(struct buffer *out, const char *begin, const char *end)
{
    struct buffer quoted = BUFFER_INIT;
    json_t *value = NULL;

    buffer_putc(&quoted, '"');
    buffer_add(&quoted, begin, (size_t)(end - begin));
    buffer_putc(&quoted, '"');
    if (!quoted.failed)
        value = json_loadb(quoted.bytes, quoted.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    buffer_release(&quoted);
    if (value == NULL)
        return false;
    buffer_add(out, json_string_value(value), json_string_length(value));
    json_decref(value);
    return true;
}

/* Jansson decodes the escapes, except for lone surrogates, which it rejects. */
bool json_unescape(const char *token, size_t size, struct buffer *out)
{
    const char *p = token + 1, *end = token + size - 1;

    buffer_clear(out);
    while (p < end) {
        const char *lone = find_lone(p, end);

        if (lone > p && !add_piece(out, p, lone))
            return false;
        if (lone < end) {
            unsigned unit = code_unit(lone, end);

            buffer_putc(out, (char)(0xe0 | unit >> 12));
            buffer_putc(out, (char)(0x80 | (unit >> 6 & 0x3f)));
            buffer_putc(out, (char)(0x80 | (unit & 0x3f)));
            lone += 6;
        }
        p = lone;
    }
    return !out->failed;
}
