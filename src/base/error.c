#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct error *err, enum status status, const char *format, va_list args)
{
    err->status = status;
    int length = vsnprintf(err->text, sizeof(err->text), format, args);
    if (length < 0)
        err->text[0] = '\0';
    else if ((size_t)length >= sizeof(err->text))
        memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

bool error_set(struct error *err, enum status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, status, format, args);
    va_end(args);
    err->has_offset = false;
    err->offset = 0;
    return false;
}

bool error_set_at(struct error *err, enum status status, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, status, format, args);
    va_end(args);
    err->has_offset = true;
    err->offset = offset;
    return false;
}

bool error_out_of_memory(struct error *err)
{
    return error_set(err, STATUS_LIMIT, "out of memory");
}
