#include "decode/log/sizes.h"

#include <string.h>

#include "base/ascii.h"

#define MOST_DIGITS 24 /* digits of a number; longer numbers are no sizes of PyTorch */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at))
        cursor->at++;
}

/* A terminal or a pager may break a line within a word. */
static void skip_break(struct cursor *cursor)
{
    if (cursor->at < cursor->end && *cursor->at == '\n')
        cursor->at++;
}

bool cursor_skip(struct cursor *cursor, const char *words)
{
    struct cursor c = *cursor;
    for (; *words; words++) {
        if (*words == ' ') {
            skip_spaces(&c);
            continue;
        }
        skip_break(&c);
        if (c.at == c.end || *c.at != *words)
            return false;
        c.at++;
    }
    *cursor = c;
    return true;
}

bool cursor_seek(struct cursor *cursor, const char *words)
{
    struct cursor c = *cursor;
    while ((c.at = memchr(c.at, *words, (size_t)(c.end - c.at))) != NULL) {
        if (cursor_skip(&c, words)) {
            *cursor = c;
            return true;
        }
        c.at++;
    }
    return false;
}

static bool is_digit(const struct cursor *cursor)
{
    return cursor->at < cursor->end && ascii_is_digit(*cursor->at);
}

/* Moves past a digit, and past a line break within the number. */
static void next_digit(struct cursor *cursor)
{
    struct cursor next = {cursor->at + 1, cursor->end};
    cursor->at++;
    skip_break(&next);
    if (is_digit(&next) || (next.at < next.end && *next.at == '.'))
        cursor->at = next.at;
}

bool cursor_number(struct cursor *cursor, uint64_t *number)
{
    struct cursor c = *cursor;
    uint64_t parsed = 0;
    skip_spaces(&c);
    if (!is_digit(&c))
        return false;
    for (; is_digit(&c); next_digit(&c))
        if (__builtin_mul_overflow(parsed, 10, &parsed) ||
            __builtin_add_overflow(parsed, (uint64_t)(*c.at - '0'), &parsed))
            return false;
    *number = parsed;
    *cursor = c;
    return true;
}

static bool take_unit(struct cursor *cursor, uint64_t *unit)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {
        {" bytes", 1},
        {" KiB", 1 << 10},
        {" MiB", 1 << 20},
        {" GiB", 1 << 30},
        {" TiB", UINT64_C(1) << 40},
        {" KB", 1 << 10},
        {" MB", 1 << 20},
        {" GB", 1 << 30},
        {" TB", UINT64_C(1) << 40},
        {" byte", 1},
        {" B", 1},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (cursor_skip(cursor, units[i].name)) {
            *unit = units[i].bytes;
            return true;
        }
    return false;
}

bool cursor_size(struct cursor *cursor, struct stated_size *size)
{
    struct cursor c = *cursor;
    unsigned __int128 digits = 0, scale = 1;
    uint64_t unit;
    int count = 0;
    skip_spaces(&c);
    if (!is_digit(&c))
        return false;
    for (; is_digit(&c); next_digit(&c), count++)
        digits = digits * 10 + (unsigned)(*c.at - '0');
    if (c.at < c.end && *c.at == '.')
        for (next_digit(&c); is_digit(&c) && count < MOST_DIGITS; next_digit(&c), count++) {
            digits = digits * 10 + (unsigned)(*c.at - '0');
            scale *= 10;
        }
    if (count > MOST_DIGITS || !take_unit(&c, &unit))
        return false;
    /* below 10^24 * 2^40, which is less than 2^120 */
    unsigned __int128 bytes = (digits * unit + scale / 2) / scale;
    *size = (struct stated_size){
        .is_stated = true,
        .bytes = bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes,
        .slack = scale == 1 ? 0 : (uint64_t)((unit + 2 * scale - 1) / (2 * scale)),
    };
    *cursor = c;
    return true;
}
