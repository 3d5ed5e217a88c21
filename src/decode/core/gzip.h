/* Inflates gzip (RFC 1952) while it is read.
 *
 * Several members may follow one another. Zero bytes after the last are padding, as for gzip(1).
 * Other trailing data, damage or a missing end is STATUS_BAD_INPUT with the offset in the
 * compressed bytes. */
#ifndef MEMSNAP_DECODE_CORE_GZIP_H
#define MEMSNAP_DECODE_CORE_GZIP_H

#include "decode/core/source_stream.h"

#define GZIP_CUT_SHORT "gzip data is cut short" /* how the error begins if the end is missing */

#define GZIP_INPUT ((size_t)64 * 1024) /* compressed bytes held at once */

static inline bool gzip_begins(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* Limits the expansion, so that a small file cannot keep memsnap inflating for minutes: deflate
 * reaches 1032:1, while captures reach 20:1 as pickles and 50:1 as JSON. Output beyond `free_bytes`
 * may be at most `max_ratio` times the compressed bytes before it, else STATUS_LIMIT. */
struct gzip_limits {
    uint64_t free_bytes;
    uint64_t max_ratio;
};

extern const struct gzip_limits gzip_default_limits; /* 1 GiB, 256 */

/* Takes over `inner`, and closes it on failure, too. `head` holds the `size` bytes already read
 * from it, at most GZIP_INPUT. NULL on failure. */
struct source_stream *gzip_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                  struct gzip_limits limits, struct budget *budget,
                                  struct error *err);

#endif
