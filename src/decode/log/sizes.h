/* Reads words, numbers and sizes of a message, from left to right. */
#ifndef MEMSNAP_DECODE_LOG_SIZES_H
#define MEMSNAP_DECODE_LOG_SIZES_H

#include "base/text.h"
#include "decode/log/rows.h"

/* The part of a text that has not been read. A function that returns false leaves it unchanged. */
struct cursor {
    const char *at, *end;
};

/* Moves past the words if the text begins with them. A space in `words` matches any number of
 * spaces, even none. The text may have a line break anywhere, even within a word or a number. */
bool cursor_skip(struct cursor *cursor, const char *words);
/* Moves past the next occurrence of the words. */
bool cursor_seek(struct cursor *cursor, const char *words);
bool cursor_number(struct cursor *cursor, uint64_t *number);
/* "20.00 MiB", "0 bytes", "1.5 GB": units are powers of 1024. */
bool cursor_size(struct cursor *cursor, struct stated_size *size);

#endif
