#include "commands/cli/complain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/core/escape.h"

#define LINE_SIZE 4608 /* a longest path and a longest error */

static void put_line(const char *format, va_list args)
{
    char text[LINE_SIZE];
    struct buffer line = BUFFER_INIT;
    vsnprintf(text, sizeof(text), format, args);
    buffer_puts(&line, "memsnap: ");
    escape_text(&line, text, strlen(text));
    if (line.failed)
        fputs("memsnap: out of memory\n", stderr);
    else
        fprintf(stderr, "%s\n", line.bytes);
    buffer_release(&line);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(format, args);
    va_end(args);
}

enum status complain_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(format, args);
    va_end(args);
    return STATUS_USAGE;
}

enum status complain_failure(const struct error *err)
{
    complain("%s", err->text);
    return err->status;
}

const char *path_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum status complain_error(const char *path, const struct error *err)
{
    if (err->has_offset)
        complain("%s: byte %" PRIu64 ": %s", path_name(path), err->offset, err->text);
    else
        complain("%s: %s", path_name(path), err->text);
    return err->status;
}
