#include "solve/backend/remote_wire.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

bool remote_read(int from, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t count = read(from, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool write_all(int to, const char *at, size_t size)
{
    while (size > 0) {
        ssize_t count = write(to, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

/* A pipe whose reader crashed is no reason to end; standard output closed early still is. */
bool remote_write(int to, const void *data, size_t size)
{
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    bool ignored = sigaction(SIGPIPE, &ignore, &before) == 0;
    bool ok = write_all(to, data, size);
    if (ignored)
        (void)sigaction(SIGPIPE, &before, NULL);
    return ok;
}
