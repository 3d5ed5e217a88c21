#include "commands/dryrun/tail.h"

#include <string.h>

void tail_add(struct tail *tail, const char *bytes, size_t size)
{
    if (size > TAIL_SIZE) {
        bytes += size - TAIL_SIZE;
        size = TAIL_SIZE;
    }
    size_t kept = tail->size + size > TAIL_SIZE ? TAIL_SIZE - size : tail->size;
    memmove(tail->bytes, tail->bytes + tail->size - kept, kept);
    memcpy(tail->bytes + kept, bytes, size);
    tail->size = kept + size;
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

void tail_last_line(const struct tail *tail, char *out, size_t size)
{
    size_t end = tail->size, used = 0;
    while (end > 0 && is_blank(tail->bytes[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && tail->bytes[begin - 1] != '\n' && tail->bytes[begin - 1] != '\r')
        begin--;
    for (; begin < end && used + 1 < size; begin++)
        out[used++] = is_blank(tail->bytes[begin]) ? ' ' : tail->bytes[begin];
    out[used] = '\0';
}

size_t tail_start(const struct tail *tail, size_t lines)
{
    size_t at = tail->size;
    if (at > 0 && tail->bytes[at - 1] == '\n')
        at--;
    for (; at > 0; at--)
        if (tail->bytes[at - 1] == '\n' && --lines == 0)
            break;
    return at;
}
