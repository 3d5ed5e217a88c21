#include "base/text.h"

#include "base/utf8.h"

int text_compare(struct text a, struct text b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 && a.bytes != b.bytes ? memcmp(a.bytes, b.bytes, size) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

int text_compare_items(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

bool text_equals(struct text text, const char *word)
{
    size_t size = strlen(word);
    return text.size == size && memcmp(text.bytes, word, size) == 0;
}

bool text_is_one_of(struct text text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equals(text, words[i]))
            return true;
    return false;
}

bool text_starts(struct text text, const char *prefix)
{
    size_t size = strlen(prefix);
    return text.size >= size && memcmp(text.bytes, prefix, size) == 0;
}

bool text_starts_with_one_of(struct text text, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_starts(text, prefixes[i]))
            return true;
    return false;
}

bool text_ends(struct text text, const char *suffix)
{
    size_t size = strlen(suffix);
    return text.size >= size && memcmp(text.bytes + text.size - size, suffix, size) == 0;
}

const char *text_find(struct text text, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.bytes + i, word, size) == 0)
            return text.bytes + i;
    return NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct text text_trim(struct text text)
{
    while (text.size > 0 && is_blank(*text.bytes))
        text = (struct text){text.bytes + 1, text.size - 1};
    while (text.size > 0 && is_blank(text.bytes[text.size - 1]))
        text.size--;
    return text;
}

bool text_number(struct text text, int64_t *number)
{
    int64_t parsed = 0;
    if (text.size == 0)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            __builtin_mul_overflow(parsed, 10, &parsed) ||
            __builtin_add_overflow(parsed, text.bytes[i] - '0', &parsed))
            return false;
    *number = parsed;
    return true;
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
