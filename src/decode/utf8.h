/* UTF-8 as RFC 3629 defines it. */
#ifndef MEMSNAP_DECODE_UTF8_H
#define MEMSNAP_DECODE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum utf8_surrogates {
    UTF8_REFUSE_SURROGATES,
    UTF8_ALLOW_SURROGATES, /* lone surrogates as three bytes, as Python's "surrogatepass" writes
                              them */
};

/* How many bytes from the beginning are whole, valid characters: `size` if all are. */
size_t utf8_valid_prefix(const uint8_t *bytes, size_t size, enum utf8_surrogates surrogates);

#endif
