#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_CAPACITY ((size_t)256)

/* Reserves room for `more` bytes and the terminating NUL. */
static bool reserve(struct buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more < buffer->capacity - buffer->size)
        return true;

    size_t need;
    if (__builtin_add_overflow(buffer->size, more, &need) || need > SIZE_MAX / 4) {
        buffer->failed = true;
        return false;
    }
    size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST_CAPACITY;
    while (capacity <= need)
        capacity *= 2;
    char *grown = realloc(buffer->bytes, capacity);
    if (!grown) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = grown;
    buffer->capacity = capacity;
    return true;
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t size)
{
    if (!reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_putc(struct buffer *buffer, char c)
{
    buffer_add(buffer, &c, 1);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    if (reserve(buffer, 0)) {
        size_t room = buffer->capacity - buffer->size;
        int length = vsnprintf(buffer->bytes + buffer->size, room, format, args);
        if (length < 0) {
            buffer->bytes[buffer->size] = '\0';
            buffer->failed = true;
        } else if ((size_t)length < room) {
            buffer->size += (size_t)length;
        } else if (reserve(buffer, (size_t)length)) {
            vsnprintf(buffer->bytes + buffer->size, (size_t)length + 1, format, again);
            buffer->size += (size_t)length;
        } else {
            buffer->bytes[buffer->size] = '\0';
        }
    }
    va_end(again);
    va_end(args);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
    if (buffer->bytes)
        buffer->bytes[0] = '\0';
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = BUFFER_INIT;
}
