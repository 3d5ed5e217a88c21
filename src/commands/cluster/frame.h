/* Messages between a leader and its worker (cluster.h). */
#ifndef MEMSNAP_COMMANDS_CLUSTER_FRAME_H
#define MEMSNAP_COMMANDS_CLUSTER_FRAME_H

#include <stdint.h>

#include "base/buffer.h"

#define FRAME_MOST ((size_t)1 << 30) /* bytes */

enum frame_kind {
    FRAME_START,     /* to the worker: struct cluster */
    FRAME_BROADCAST, /* the bytes of process 0; without any from the others, who wait for them */
    FRAME_RECORD,
    FRAME_END,    /* of all records; or of those of one process */
    FRAME_FAILED, /* to the leader: struct error */
};

struct frame {
    uint32_t kind; /* enum frame_kind */
    uint32_t size; /* of the bytes that follow */
};

/* False: the other end is closed, or sent what cannot be. */
bool frame_write(int fd, enum frame_kind kind, const void *bytes, size_t size);
/* Replaces `bytes`. */
bool frame_read(int fd, enum frame_kind *kind, struct buffer *bytes);
/* Writes bytes that hold whole frames already. */
bool frame_write_all(int fd, const void *bytes, size_t size);

#endif
