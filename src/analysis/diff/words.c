#define _GNU_SOURCE /* vasprintf */
#include "analysis/diff/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PERCENT_SIZE 32

bool diff_say(struct diff_words *words, struct error *err, const char *format, ...)
{
    char *text;
    va_list arguments;
    if (words->count == sizeof(words->items) / sizeof(words->items[0]))
        return true;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return error_out_of_memory(err);
    words->items[words->count++] = text;
    return true;
}

void diff_words_release(struct diff_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    words->count = 0;
}

int64_t diff_delta(int64_t a, int64_t b)
{
    int64_t delta;
    if (__builtin_sub_overflow(b, a, &delta))
        return b > a ? INT64_MAX : INT64_MIN;
    return delta;
}

int64_t diff_magnitude(int64_t value)
{
    return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

/* " (+12.1%)"; empty if `whole` is 0, and for absurdly large shares. */
static void percent(int64_t delta, int64_t whole, char text[PERCENT_SIZE])
{
    double share = whole > 0 ? 100.0 * (double)delta / (double)whole : 0;
    *text = '\0';
    if (whole > 0 && share < 1e6)
        snprintf(text, PERCENT_SIZE, " (%+.1f%%)", share);
}

bool diff_say_change(struct diff_words *words, const char *what, const int64_t bytes[2],
                     enum unit unit, struct error *err)
{
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];
    char share[PERCENT_SIZE];
    int64_t delta = diff_delta(bytes[0], bytes[1]);
    units_bytes(a, bytes[0], unit);
    if (delta == 0)
        return diff_say(words, err, "%s: %s in both.", what, a);
    units_bytes(b, bytes[1], unit);
    percent(delta, bytes[0], share);
    units_bytes(change, diff_magnitude(delta), unit);
    return diff_say(words, err, "%s %s by %s%s: from %s to %s.", what,
                    delta > 0 ? "grew" : "shrank", change, share, a, b);
}
