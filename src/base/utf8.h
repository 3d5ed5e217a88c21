/* UTF-8 as RFC 3629 defines it, and as Python stretches it. */
#ifndef MEMSNAP_BASE_UTF8_H
#define MEMSNAP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum utf8_surrogates {
    UTF8_REFUSE_SURROGATES,
    UTF8_ALLOW_SURROGATES, /* lone ones as three bytes, as Python's "surrogatepass" writes them */
};

/* Reads one character of at most `size` bytes. Returns its length, or 0 where the bytes are not
 * valid (overlong, cut off, beyond U+10FFFF); then one byte is to be skipped. */
size_t utf8_decode(const char *bytes, size_t size, enum utf8_surrogates surrogates, uint32_t *code);

/* How many bytes from the beginning are whole, valid characters: `size` if all are. */
size_t utf8_valid_prefix(const char *bytes, size_t size, enum utf8_surrogates surrogates);

/* How many bytes of a NUL-terminated text to show where at most `most` may be: all, or as many as
 * cut no character in two. */
int utf8_clip(const char *text, int most);

#define UTF8_LENGTH_MAX 4

/* Writes a code point up to U+10FFFF, surrogates as they are; returns how many bytes. */
size_t utf8_put(char out[UTF8_LENGTH_MAX], uint32_t code);

#endif
