#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

int text_compare(struct text a, struct text b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 && a.bytes != b.bytes ? memcmp(a.bytes, b.bytes, size) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

struct text text_first(struct text text, size_t most)
{
    if (text.size <= most)
        return text;
    size_t size = most;
    while (size > 0 && most - size < UTF8_LENGTH_MAX - 1 && is_inside_character(text.bytes[size]))
        size--;
    return (struct text){text.bytes, size};
}

struct text text_last(struct text text, size_t most)
{
    if (text.size <= most)
        return text;
    size_t from = text.size - most, least = from;
    while (from < text.size && from - least < UTF8_LENGTH_MAX - 1 &&
           is_inside_character(text.bytes[from]))
        from++;
    return (struct text){text.bytes + from, text.size - from};
}
