/* Messages between a leader and its worker (cluster.h). */
#ifndef MEMSNAP_COMMANDS_CLUSTER_FRAME_H
#define MEMSNAP_COMMANDS_CLUSTER_FRAME_H

#include <stdint.h>

#include "base/buffer.h"

#define FRAME_MOST ((size_t)1 << 30) /* bytes */

enum frame_kind {
    FRAME_START,     /* to the worker: struct cluster */
    FRAME_BROADCAST, /* from the worker of process 0, and to the workers of the others: the bytes;
                        from the workers of the others, which wait for the bytes: empty */
    FRAME_RECORD,    /* a record */
    FRAME_END,       /* from a worker: its last record was sent; to a worker: there are no more */
    FRAME_FAILED,    /* to the leader: struct error */
};

struct frame {
    uint32_t kind; /* enum frame_kind */
    uint32_t size; /* of the bytes that follow */
};

/* False if the other end is closed, or if a message is invalid or longer than FRAME_MOST. */
bool frame_write(int fd, enum frame_kind kind, const void *bytes, size_t size);
/* Reads a message, whose bytes replace the contents of `bytes`. */
bool frame_read(int fd, enum frame_kind *kind, struct buffer *bytes);
/* Writes bytes that hold whole frames already. */
bool frame_write_all(int fd, const void *bytes, size_t size);

#endif
