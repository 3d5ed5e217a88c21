#include "commands/cluster/frame.h"

#include <errno.h>
#include <unistd.h>

bool frame_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

bool frame_write(int fd, enum frame_kind kind, const void *bytes, size_t size)
{
    const struct frame frame = {.kind = (uint32_t)kind, .size = (uint32_t)size};
    return size <= FRAME_MOST && frame_write_all(fd, &frame, sizeof(frame)) &&
           frame_write_all(fd, bytes, size);
}

static bool read_exactly(int fd, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool frame_read(int fd, enum frame_kind *kind, struct buffer *bytes)
{
    char part[65536];
    struct frame frame;
    buffer_clear(bytes);
    if (!read_exactly(fd, &frame, sizeof(frame)) || frame.kind > FRAME_FAILED ||
        frame.size > FRAME_MOST)
        return false;
    for (size_t left = frame.size; left > 0;) {
        size_t now = left < sizeof(part) ? left : sizeof(part);
        if (!read_exactly(fd, part, now))
            return false;
        buffer_add(bytes, part, now);
        left -= now;
    }
    *kind = (enum frame_kind)frame.kind;
    return !bytes->failed;
}
