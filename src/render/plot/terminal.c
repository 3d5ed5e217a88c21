#include "render/plot/terminal.h"

#include <string.h>

#include "render/core/escape.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\f' || c == '\r';
}

bool plot_lines_write(FILE *out, const char *bytes, size_t size, struct error *err)
{
    struct buffer line = BUFFER_INIT;
    size_t empty = 0;
    bool begun = false;
    for (size_t at = 0, next; at < size; at = next) {
        const char *newline = memchr(bytes + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - bytes) : size;
        next = end + 1;
        at += bytes[at] == '\f'; /* a new page, says gnuplot */
        while (end > at && is_blank(bytes[end - 1]))
            end--;
        if (end <= at) {
            empty += begun;
            continue;
        }
        for (; empty > 0; empty--)
            fputc('\n', out);
        begun = true;
        buffer_clear(&line);
        escape_text(&line, bytes + at, end - at);
        buffer_puts(&line, "\n");
        if (line.failed)
            break;
        fputs(line.bytes, out);
    }
    bool ok = !line.failed || error_set(err, STATUS_LIMIT, "out of memory");
    buffer_release(&line);
    return ok;
}

/* ESC P, numbers, q; then pixels, colours and sizes, all of them visible characters; then ESC \. */
bool plot_sixel_check(const char *bytes, size_t size, struct error *err)
{
    static const char begin[] = "\x1bP", end[] = "\x1b\\";
    size_t at = 2, last = size;
    while (last > 0 && (bytes[last - 1] == '\n' || bytes[last - 1] == '\r'))
        last--;
    bool ok = last >= 5 && memcmp(bytes, begin, 2) == 0 && memcmp(bytes + last - 2, end, 2) == 0;
    while (ok && at < last && ((bytes[at] >= '0' && bytes[at] <= '9') || bytes[at] == ';'))
        at++;
    ok = ok && at < last - 2 && bytes[at] == 'q';
    for (at++; ok && at < last - 2; at++)
        ok = (bytes[at] > ' ' && bytes[at] <= '~') || bytes[at] == '\n' || bytes[at] == '\r';
    return ok || error_set(err, STATUS_IO, "what gnuplot drew is no sixel image");
}
