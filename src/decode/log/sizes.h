/* Reads words, numbers and sizes of a message, from left to right. */
#ifndef MEMSNAP_DECODE_LOG_SIZES_H
#define MEMSNAP_DECODE_LOG_SIZES_H

#include "base/text.h"
#include "decode/log/rows.h"

/* The rest of a text. A function that returns false has not moved it. */
struct cursor {
    const char *at, *end;
};

/* A single space in `words` stands for any number of spaces, also none before punctuation. The text
 * may have a line break anywhere, also within a word or a number. */
bool cursor_skip(struct cursor *cursor, const char *words);
/* Moves behind the next occurrence of the words. */
bool cursor_seek(struct cursor *cursor, const char *words);
bool cursor_number(struct cursor *cursor, uint64_t *number);
/* "20.00 MiB", "0 bytes", "1.5 GB": units are powers of 1024. */
bool cursor_size(struct cursor *cursor, struct stated_size *size);

#endif
