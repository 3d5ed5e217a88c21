#include "decode/profiler/start.h"

#include <ctype.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

#define DIGITS_MOST 9

/* Finds the text after a key and its colon; empty if the key is not there. */
static struct text after(struct text text, const char *key)
{
    const char *end = text.bytes + text.size, *at = text_find(text, key);
    if (!at)
        return (struct text){end, 0};
    at += strlen(key);
    while (at < end && (isspace((unsigned char)*at) || *at == ':'))
        at++;
    return (struct text){at, (size_t)(end - at)};
}

int64_t profile_rank(const struct source *source)
{
    const struct text start = {(const char *)source->pos, (size_t)(source->end - source->pos)};
    struct text info = after(start, "\"distributedInfo\"");
    struct text rank = after(info, "\"rank\"");
    int64_t number = 0;
    size_t digits = 0;
    while (digits < rank.size && ascii_is_digit(rank.bytes[digits]) && digits <= DIGITS_MOST)
        number = 10 * number + (rank.bytes[digits++] - '0');
    return digits > 0 && digits <= DIGITS_MOST ? number : -1;
}
