/* Inflates gzip (RFC 1952) as it is read.
 *
 * Members may follow one another; zero bytes after the last are padding, as
 * gzip(1) takes them; anything else there, damage or a missing end is
 * STATUS_BAD_INPUT, naming the offset in the compressed bytes. */
#ifndef MEMSNAP_DECODE_CORE_GZIP_H
#define MEMSNAP_DECODE_CORE_GZIP_H

#include "decode/core/source_stream.h"

#define GZIP_INPUT ((size_t)64 * 1024) /* compressed bytes held at a time */

static inline bool gzip_begins(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* Takes over `inner` (closed on failure too), of which `size` bytes, at most GZIP_INPUT, have been
 * read already: `head`. NULL on failure. */
struct source_stream *gzip_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                  struct budget *budget, struct error *err);

#endif
