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

/* A small file must not keep memsnap inflating for minutes: deflate reaches 1032:1, while captures
 * reach 20:1 as pickles and 50:1 as JSON. What is inflated beyond `free_bytes` may be at most
 * `max_ratio` times as much as the compressed bytes before it, else STATUS_LIMIT. */
struct gzip_limits {
    uint64_t free_bytes;
    uint64_t max_ratio;
};

extern const struct gzip_limits gzip_default_limits; /* 1 GiB, 256 */

/* Takes over `inner` (closed on failure too), of which `size` bytes, at most GZIP_INPUT, have been
 * read already: `head`. NULL on failure. */
struct source_stream *gzip_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                  struct gzip_limits limits, struct budget *budget,
                                  struct error *err);

#endif
