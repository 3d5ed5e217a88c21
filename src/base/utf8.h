/* UTF-8 as RFC 3629 defines it, optionally with Python's "surrogatepass" extension. */
#ifndef MEMSNAP_BASE_UTF8_H
#define MEMSNAP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum utf8_surrogates {
    UTF8_REFUSE_SURROGATES,
    UTF8_ALLOW_SURROGATES, /* lone surrogates as three bytes, as Python's "surrogatepass" writes
                              them */
};

/* Reads one character of at most `size` bytes. Returns its length, or 0 if the bytes are invalid
 * (overlong, truncated, beyond U+10FFFF); the caller should then skip one byte. */
size_t utf8_decode(const char *bytes, size_t size, enum utf8_surrogates surrogates, uint32_t *code);

/* The length of the longest valid prefix in bytes, which ends at a character boundary. */
size_t utf8_valid_prefix(const char *bytes, size_t size, enum utf8_surrogates surrogates);

/* The number of bytes of a NUL-terminated text to show if at most `most` bytes may be shown. A
 * character that would be split is left out. */
int utf8_clip(const char *text, int most);

#define UTF8_LENGTH_MAX 4

/* Encodes a code point up to U+10FFFF, including surrogates. Returns the number of bytes. */
size_t utf8_put(char out[UTF8_LENGTH_MAX], uint32_t code);

#endif
