/* Decodes strings with escapes. Jansson does it, except for lone surrogates, which it rejects. */
#include <jansson.h>
#include <string.h>

#include "decode/json/scan.h"

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
