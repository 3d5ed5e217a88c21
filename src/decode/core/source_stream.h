/* The origin of a source's bytes. Streams stack: the inflater reads from another stream, and an
 * implementation may read ahead on a separate thread. */
#ifndef MEMSNAP_DECODE_CORE_SOURCE_STREAM_H
#define MEMSNAP_DECODE_CORE_SOURCE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

#define STREAM_ROOM ((size_t)32 * 1024)
#define STREAM_PAD  ((size_t)64)

struct source_stream {
    /* Waits for at least one byte and stores at most `size` (above 0). `*got` is 0 only at the end.
     */
    bool (*read)(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                 struct error *err);
    /* Like read(), but lends memory that contains the bytes. The caller may write to the
     * STREAM_ROOM bytes before them and the STREAM_PAD bytes after them. The memory stays valid
     * until the call of lend() after the next one, or until the next read(), whichever comes first.
     * Sets `*bytes` to NULL if read() must be called now. The pointer is NULL if the stream lends
     * nothing. */
    bool (*lend)(struct source_stream *stream, uint8_t **bytes, size_t *got, struct error *err);
    uint64_t (*bytes_read)(const struct source_stream *stream); /* of the outermost input */
    /* Makes a read() waiting on another thread return, and all later ones; close() must follow. */
    void (*interrupt)(struct source_stream *stream);
    void (*close)(struct source_stream *stream); /* closes the inner stream and frees itself */
    uint64_t total_bytes;                        /* size of the outermost input, 0 if unknown */
};

/* Cleared memory for a stream, counted in the budget; NULL on failure. */
void *source_stream_alloc(size_t size, struct budget *budget, struct error *err);

/* Takes over `fd`, and closes it on failure, too. NULL on failure. */
struct source_stream *source_stream_fd(int fd, struct budget *budget, struct error *err);
struct source_stream *source_stream_memory(const void *bytes, size_t size, struct budget *budget,
                                           struct error *err);

#endif
