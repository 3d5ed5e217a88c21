/* A growing byte string. No function fails visibly: look at `failed` once, at the end. */
#ifndef MEMSNAP_BASE_BUFFER_H
#define MEMSNAP_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *bytes; /* NUL-terminated once anything was added */
    size_t size, capacity;
    bool failed; /* memory ran out, and everything appended since then was dropped */
};

#define BUFFER_INIT ((struct buffer){0})

void buffer_add(struct buffer *buffer, const char *bytes, size_t size);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_putc(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_clear(struct buffer *buffer);   /* keeps the capacity, and `failed` */
void buffer_release(struct buffer *buffer); /* frees the bytes; the buffer may be used again */

#endif
