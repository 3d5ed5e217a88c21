/* A view of bytes stored elsewhere, with operations that accept any content. */
#ifndef MEMSNAP_BASE_TEXT_H
#define MEMSNAP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *bytes; /* from symbols: followed by a NUL byte; may contain NUL and invalid UTF-8 */
    size_t size;
};

/* Compares bytewise; a prefix sorts before the longer text. */
int text_compare(struct text a, struct text b);
/* The same for qsort(): two items of an array of struct text. */
int text_compare_items(const void *a, const void *b);

static inline bool text_same(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

bool text_equals(struct text text, const char *word);
bool text_is_one_of(struct text text, const char *const *words, size_t count);
bool text_starts(struct text text, const char *prefix);
bool text_starts_with_one_of(struct text text, const char *const *prefixes, size_t count);
bool text_ends(struct text text, const char *suffix);
/* The first occurrence of `word`, or NULL. */
const char *text_find(struct text text, const char *word);

/* Without the spaces, tabs and carriage returns at both ends. */
struct text text_trim(struct text text);

/* True if the whole text is decimal digits whose value fits an int64_t; `*number` is the value. */
bool text_number(struct text text, int64_t *number);

/* At most the first, or the last, `most` bytes. Neither cuts a character of valid UTF-8. */
struct text text_first(struct text text, size_t most);
struct text text_last(struct text text, size_t most);

#endif
