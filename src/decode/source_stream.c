#include "decode/source_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fd_stream {
    struct source_stream base;
    struct budget *budget;
    uint64_t taken; /* bytes read so far */
    int fd;
};

struct memory_stream {
    struct source_stream base;
    struct budget *budget;
    const uint8_t *bytes;
    size_t size, taken;
};

static bool fd_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                    struct error *err)
{
    struct fd_stream *self = (struct fd_stream *)stream;
    ssize_t n;

    do
        n = read(self->fd, bytes, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_set(err, STATUS_IO, "cannot read: %s", strerror(errno));
    self->taken += (uint64_t)n;
    *got = (size_t)n;
    return true;
}

static uint64_t fd_bytes_read(const struct source_stream *stream)
{
    return ((const struct fd_stream *)stream)->taken;
}

static void fd_close(struct source_stream *stream)
{
    struct fd_stream *self = (struct fd_stream *)stream;

    close(self->fd);
    budget_give(self->budget, sizeof(*self));
    free(self);
}

/* Cleared memory for a stream, counted in the budget. */
static void *stream_alloc(size_t size, struct budget *budget, struct error *err)
{
    void *memory;

    if (!budget_take(budget, size, err))
        return NULL;
    memory = calloc(1, size);
    if (memory == NULL) {
        budget_give(budget, size);
        error_set(err, STATUS_LIMIT, "out of memory");
    }
    return memory;
}

struct source_stream *source_stream_fd(int fd, struct budget *budget, struct error *err)
{
    struct fd_stream *self;
    struct stat st;

    if (fstat(fd, &st) != 0) {
        error_set(err, STATUS_IO, "cannot read: %s", strerror(errno));
        goto fail;
    }
    if (S_ISDIR(st.st_mode)) {
        error_set(err, STATUS_IO, "is a directory, not a file");
        goto fail;
    }
    self = stream_alloc(sizeof(*self), budget, err);
    if (self == NULL)
        goto fail;
    if (S_ISREG(st.st_mode)) {
        self->base.total_bytes = (uint64_t)st.st_size;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    self->base.read = fd_read;
    self->base.bytes_read = fd_bytes_read;
    self->base.close = fd_close;
    self->budget = budget;
    self->fd = fd;
    return &self->base;
fail:
    if (fd >= 0)
        close(fd);
    return NULL;
}

static bool memory_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                        struct error *err)
{
    struct memory_stream *self = (struct memory_stream *)stream;
    size_t left = self->size - self->taken;

    (void)err;
    if (size > left)
        size = left;
    if (size > 0)
        memcpy(bytes, self->bytes + self->taken, size);
    self->taken += size;
    *got = size;
    return true;
}

static uint64_t memory_bytes_read(const struct source_stream *stream)
{
    return ((const struct memory_stream *)stream)->taken;
}

static void memory_close(struct source_stream *stream)
{
    struct memory_stream *self = (struct memory_stream *)stream;

    budget_give(self->budget, sizeof(*self));
    free(self);
}

struct source_stream *source_stream_memory(const void *bytes, size_t size, struct budget *budget,
                                           struct error *err)
{
    struct memory_stream *self = stream_alloc(sizeof(*self), budget, err);

    if (self == NULL)
        return NULL;
    self->base.read = memory_read;
    self->base.bytes_read = memory_bytes_read;
    self->base.close = memory_close;
    self->base.total_bytes = size;
    self->budget = budget;
    self->bytes = bytes;
    self->size = size;
    return &self->base;
}
