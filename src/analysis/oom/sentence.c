#include "analysis/oom/sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void say(const struct words *words, const char *format, ...)
{
    size_t used = strlen(words->out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->out + used, words->size - used, format, arguments);
    va_end(arguments);
}

struct size_text size_text(const struct words *words, uint64_t bytes)
{
    struct size_text size;
    units_bytes(size.text, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, words->unit);
    return size;
}
