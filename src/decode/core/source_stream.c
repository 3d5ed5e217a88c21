#include "decode/core/source_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct fd_stream {
    struct source_stream base;
    struct budget *budget;
    uint64_t taken; /* bytes read so far */
    int fd;
    int interrupted; /* an eventfd, if a read may wait for long (not a regular file); else -1 */
};

struct memory_stream {
    struct source_stream base;
    struct budget *budget;
    const uint8_t *bytes;
    size_t size, taken;
};

void *source_stream_alloc(size_t size, struct budget *budget, struct error *err)
{
    void *memory;

    if (!budget_take(budget, size, err))
        return NULL;
    memory = calloc(1, size);
    if (memory == NULL) {
        budget_give(budget, size);
        error_out_of_memory(err);
    }
    return memory;
}

/* Waits for input. False, with errno set, if that failed or was interrupted. */
static bool wait_for_input(const struct fd_stream *self)
{
    struct pollfd polled[] = {{.fd = self->fd, .events = POLLIN},
                              {.fd = self->interrupted, .events = POLLIN}};

    if (self->interrupted < 0)
        return true;
    if (poll(polled, 2, -1) < 0)
        return false;
    errno = ECANCELED;
    return polled[1].revents == 0;
}

static bool fd_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                    struct error *err)
{
    struct fd_stream *self = (struct fd_stream *)stream;
    ssize_t n;

    do
        n = wait_for_input(self) ? read(self->fd, bytes, size) : -1;
    while (n < 0 && (errno == EINTR || errno == EAGAIN));
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

static void fd_interrupt(struct source_stream *stream)
{
    const struct fd_stream *self = (struct fd_stream *)stream;

    if (self->interrupted >= 0)
        (void)eventfd_write(self->interrupted, 1);
}

static void fd_close(struct source_stream *stream)
{
    struct fd_stream *self = (struct fd_stream *)stream;

    if (self->fd >= 0)
        close(self->fd);
    if (self->interrupted >= 0)
        close(self->interrupted);
    budget_give(self->budget, sizeof(*self));
    free(self);
}

/* poll() would wait forever on a write-only descriptor, where read() fails. */
static bool is_readable(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) == O_WRONLY)
        errno = EBADF;
    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

static bool describe(struct fd_stream *self, int fd, struct error *err)
{
    struct stat st;

    self->fd = fd;
    self->interrupted = -1;
    if (!is_readable(fd) || fstat(fd, &st) != 0)
        return error_set(err, STATUS_IO, "cannot read: %s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return error_set(err, STATUS_IO, "is a directory, not a file");
    if (S_ISREG(st.st_mode)) {
        self->base.total_bytes = (uint64_t)st.st_size;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return true;
    }
    self->interrupted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return self->interrupted >= 0 || error_set(err, STATUS_IO, "cannot read: %s", strerror(errno));
}

struct source_stream *source_stream_fd(int fd, struct budget *budget, struct error *err)
{
    struct fd_stream *self = source_stream_alloc(sizeof(*self), budget, err);

    if (self == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    self->base.read = fd_read;
    self->base.bytes_read = fd_bytes_read;
    self->base.interrupt = fd_interrupt;
    self->base.close = fd_close;
    self->budget = budget;
    if (!describe(self, fd, err)) {
        fd_close(&self->base);
        return NULL;
    }
    return &self->base;
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

static void memory_interrupt(struct source_stream *stream)
{
    (void)stream; /* never waits */
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
    struct memory_stream *self = source_stream_alloc(sizeof(*self), budget, err);

    if (self == NULL)
        return NULL;
    self->base.read = memory_read;
    self->base.bytes_read = memory_bytes_read;
    self->base.interrupt = memory_interrupt;
    self->base.close = memory_close;
    self->base.total_bytes = size;
    self->budget = budget;
    self->bytes = bytes;
    self->size = size;
    return &self->base;
}
