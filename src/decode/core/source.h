/* A stream of bytes, read through one reused, zero-padded buffer.
 *
 * The unread bytes are [pos, end); at least SOURCE_PAD zero bytes follow `end`,
 * so that a decoder may look ahead that far without a bounds check. Nothing is
 * mapped: a file that shrinks while it is read is a short read, not a SIGBUS.
 * gzip (RFC 1952, several members) is recognised by its first two bytes and
 * inflated on the way; offsets count decoded bytes. */
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
    bool at_eof;              /* nothing will follow `end` */
    bool failed;              /* nothing can follow `end` either, and `failure` says why */
    struct error failure;
    uint8_t *buffer;
    size_t capacity;       /* of buffer, without the pad and what aligns it */
    uint64_t buffer_start; /* offset in the decoded stream of buffer[0], modulo 2^64: pos starts
                              behind it */
    enum compression compression;
    struct source_stream *stream;
    struct budget *budget; /* not owned */
};

/* Takes over `fd` and closes it, also on failure. A directory or an unreadable file is STATUS_IO.
 */
bool source_open_fd(struct source *source, int fd, struct budget *budget, struct error *err);
/* Reads from memory that the caller keeps (tests, fuzzing); gzip recognised as above. */
bool source_open_memory(struct source *source, const void *bytes, size_t size,
                        struct budget *budget, struct error *err);
void source_close(struct source *source);

static inline uint64_t source_offset(const struct source *source)
{
    return source->buffer_start + (uint64_t)(source->pos - source->buffer);
}

/* Makes at least `count` bytes available at pos, or all that are left when the
 * input ends before: then returns true too, and the caller sees end - pos < count.
 * Moves the unread bytes, so pointers into the buffer die. The buffer only grows
 * as bytes really arrive. False: read error, bad gzip data, or over budget. */
bool source_fill(struct source *source, size_t count, struct error *err);

/* The same for bytes that may not be needed: a failure behind what is there is kept for the
 * source_fill() that does need them, so that how far one looks ahead changes no answer. */
void source_look_ahead(struct source *source, size_t count);

/* Bytes read so far from the outermost input (compressed, if it is) and its size, 0 if unknown: for
 * progress. */
uint64_t source_bytes_read(const struct source *source);
uint64_t source_total_bytes(const struct source *source);

#endif
