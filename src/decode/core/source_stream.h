/* Where a source's bytes come from. Streams stack: the inflater reads from
 * another stream, and whatever stands behind this interface may run ahead of
 * its reader on a thread of its own. */
#ifndef MEMSNAP_DECODE_CORE_SOURCE_STREAM_H
#define MEMSNAP_DECODE_CORE_SOURCE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

struct source_stream {
    /* Waits for at least one byte and stores at most `size` (above 0); `*got` is 0 at the end only.
     */
    bool (*read)(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                 struct error *err);
    uint64_t (*bytes_read)(const struct source_stream *stream); /* of the outermost input */
    /* Ends a read() that waits on another thread, and all to come, anyhow; close() follows. */
    void (*interrupt)(struct source_stream *stream);
    void (*close)(struct source_stream *stream); /* closes what it reads from and frees itself */
    uint64_t total_bytes;                        /* size of the outermost input, 0 if unknown */
};

/* Cleared memory for a stream, counted in the budget; NULL on failure. */
void *source_stream_alloc(size_t size, struct budget *budget, struct error *err);

/* NULL on failure. `fd` is taken over, and closed on failure too. */
struct source_stream *source_stream_fd(int fd, struct budget *budget, struct error *err);
struct source_stream *source_stream_memory(const void *bytes, size_t size, struct budget *budget,
                                           struct error *err);

#endif
