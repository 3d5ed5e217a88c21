/* Turns text in UTF-16 into UTF-8 while it is read, as PowerShell writes the output of a program
 * into a file. A byte order mark must come first, and is left out. What is no valid UTF-16 becomes
 * U+FFFD. */
#ifndef MEMSNAP_DECODE_CORE_UTF16_H
#define MEMSNAP_DECODE_CORE_UTF16_H

#include "decode/core/source_stream.h"

#define UTF16_INPUT ((size_t)64 * 1024) /* bytes held at once */

static inline bool utf16_begins(const uint8_t *bytes, size_t size)
{
    return size >= 2 &&
           ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff));
}

/* Takes over `inner`, and closes it on failure, too. `head` holds the `size` bytes already read
 * from it, from the byte order mark on, at most UTF16_INPUT. NULL on failure. */
struct source_stream *utf16_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                   struct budget *budget, struct error *err);

#endif
