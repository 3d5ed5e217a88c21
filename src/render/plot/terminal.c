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
    bool ok = !line.failed || error_out_of_memory(err);
    buffer_release(&line);
    return ok;
}

/* ESC P, numbers, q; then pixels, colours and sizes, all of them visible characters; then ESC \. */
static bool is_sixel(const char *bytes, size_t size)
{
    static const char begin[] = "\x1bP", end[] = "\x1b\\";
    if (size < 5 || memcmp(bytes, begin, 2) != 0 || memcmp(bytes + size - 2, end, 2) != 0)
        return false;
    size_t at = 2;
    while ((bytes[at] >= '0' && bytes[at] <= '9') || bytes[at] == ';')
        at++;
    if (bytes[at] != 'q')
        return false;
    for (at++; at < size - 2; at++)
        if ((bytes[at] <= ' ' || bytes[at] > '~') && bytes[at] != '\n' && bytes[at] != '\r')
            return false;
    return true;
}

bool plot_sixel_find(const char **bytes, size_t *size, struct error *err)
{
    static const char home[] = "\x1b[H";
    const char *image = *bytes;
    size_t left = *size;
    while (left > 0 && (image[left - 1] == '\n' || image[left - 1] == '\r'))
        left--;
    if (left >= sizeof(home) - 1 && memcmp(image, home, sizeof(home) - 1) == 0) {
        image += sizeof(home) - 1;
        left -= sizeof(home) - 1;
    }
    if (!is_sixel(image, left))
        return error_set(err, STATUS_IO, "what gnuplot drew is no sixel image");
    *bytes = image;
    *size = left;
    return true;
}
