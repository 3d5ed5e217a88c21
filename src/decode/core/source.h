/* A stream of bytes, read through one reused, zero-padded buffer, or, in a large file, through the
 * buffers of a thread that reads ahead.
 *
 * The unread bytes are [pos, end); at least SOURCE_PAD zero bytes follow `end`,
 * so that a decoder may look ahead that far without a bounds check. Nothing is
 * mapped: a file that shrinks while it is read is a short read, not a SIGBUS.
 * gzip (RFC 1952, several members) is recognised by its first two bytes and
 * inflated on the way, and text in UTF-16 becomes UTF-8; offsets count decoded bytes. */
#ifndef MEMSNAP_DECODE_CORE_SOURCE_H
#define MEMSNAP_DECODE_CORE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

#define SOURCE_WINDOW ((size_t)128 * 1024)
#define SOURCE_PAD    ((size_t)64)

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP };

struct source_stream; /* where bytes come from: file descriptor, inflater, memory */

struct source {
    const uint8_t *pos, *end; /* unread bytes; the decoder advances pos */
    bool at_eof;              /* no bytes follow `end` */
    bool failed;              /* no bytes can be read beyond `end`: `failure` is the reason */
    struct error failure;
    uint8_t *buffer; /* `own`, or memory that the stream has lent */
    uint8_t *own;
    size_t capacity;       /* of `own`, without padding and alignment */
    uint64_t buffer_start; /* offset of buffer[0] in the decoded stream, modulo 2^64: pos starts
                              after it */
    enum compression compression;
    struct source_stream *stream;
    struct budget *budget; /* not owned */
};

/* Takes over `fd` and closes it, also on failure. A directory or an unreadable file is STATUS_IO.
 */
bool source_open_fd(struct source *source, int fd, struct budget *budget, struct error *err);
/* Reads from memory that the caller keeps (tests, fuzzing). Recognises gzip, too. */
bool source_open_memory(struct source *source, const void *bytes, size_t size,
                        struct budget *budget, struct error *err);
void source_close(struct source *source);

static inline uint64_t source_offset(const struct source *source)
{
    return source->buffer_start + (uint64_t)(source->pos - source->buffer);
}

/* Makes at least `count` bytes available at pos. If the input ends before, it makes all remaining
 * bytes available and returns true, with end - pos < count. Moves the unread bytes, which
 * invalidates pointers into the buffer. The buffer grows only as bytes arrive. False: read error,
 * bad gzip data, or over budget. */
bool source_fill(struct source *source, size_t count, struct error *err);

/* Like source_fill(), for bytes that may not be needed. A failure is kept for the source_fill()
 * that needs the bytes, so that the distance of looking ahead does not change any result. */
void source_look_ahead(struct source *source, size_t count);

/* Bytes read so far from the outermost input (compressed, if it is), and its size, or 0 if unknown.
 * For progress. */
uint64_t source_bytes_read(const struct source *source);
uint64_t source_total_bytes(const struct source *source);

#endif
