#include "decode/core/utf16.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT 0xfffd
#define UNIT        ((size_t)2)

struct utf16 {
    struct source_stream base;
    struct source_stream *inner;
    struct budget *budget;
    bool is_big_endian, inner_ended;
    size_t pos, end; /* unread bytes of `input` */
    char left[UTF8_LENGTH_MAX];
    size_t left_size; /* of a character that did not fit into the caller's bytes */
    uint8_t input[UTF16_INPUT];
};

static bool is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

static uint32_t unit_at(const struct utf16 *self, size_t pos)
{
    uint32_t first = self->input[pos], second = self->input[pos + 1];
    return self->is_big_endian ? first << 8 | second : second << 8 | first;
}

/* Reads until a pair of units is there, or the input has ended. */
static bool refill(struct utf16 *self, struct error *err)
{
    size_t left = self->end - self->pos, got;
    memmove(self->input, self->input + self->pos, left);
    self->pos = 0;
    self->end = left;
    while (self->end < 2 * UNIT && !self->inner_ended) {
        if (!self->inner->read(self->inner, self->input + self->end, UTF16_INPUT - self->end, &got,
                               err))
            return false;
        self->end += got;
        self->inner_ended = got == 0;
    }
    return true;
}

/* Takes a character from the input, which has at least one byte left. A unit alone at the end of
 * what was read so far is the last of the input. */
static uint32_t take_character(struct utf16 *self)
{
    size_t left = self->end - self->pos;
    if (left < UNIT) {
        self->pos = self->end;
        return REPLACEMENT;
    }
    uint32_t unit = unit_at(self, self->pos);
    self->pos += UNIT;
    if (!is_high(unit))
        return is_low(unit) ? REPLACEMENT : unit;
    uint32_t low = left >= 2 * UNIT ? unit_at(self, self->pos) : 0;
    if (!is_low(low))
        return REPLACEMENT;
    self->pos += UNIT;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static size_t hand_out_left(struct utf16 *self, uint8_t *bytes, size_t size)
{
    size_t count = self->left_size < size ? self->left_size : size;
    memcpy(bytes, self->left, count);
    memmove(self->left, self->left + count, self->left_size - count);
    self->left_size -= count;
    return count;
}

static bool utf16_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                       struct error *err)
{
    struct utf16 *self = (struct utf16 *)stream;
    size_t count = hand_out_left(self, bytes, size);
    while (count < size) {
        if (self->end - self->pos < 2 * UNIT && !self->inner_ended) {
            if (count > 0)
                break; /* rather than wait for more */
            if (!refill(self, err))
                return false;
        }
        if (self->pos == self->end)
            break;
        self->left_size = utf8_put(self->left, take_character(self));
        count += hand_out_left(self, bytes + count, size - count);
    }
    *got = count;
    return true;
}

static uint64_t utf16_bytes_read(const struct source_stream *stream)
{
    const struct utf16 *self = (const struct utf16 *)stream;
    return self->inner->bytes_read(self->inner);
}

static void utf16_interrupt(struct source_stream *stream)
{
    struct utf16 *self = (struct utf16 *)stream;
    self->inner->interrupt(self->inner);
}

static void utf16_close(struct source_stream *stream)
{
    struct utf16 *self = (struct utf16 *)stream;
    self->inner->close(self->inner);
    budget_give(self->budget, sizeof(*self));
    free(self);
}

struct source_stream *utf16_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                   struct budget *budget, struct error *err)
{
    struct utf16 *self = source_stream_alloc(sizeof(*self), budget, err);
    if (!self) {
        inner->close(inner);
        return NULL;
    }
    self->base.read = utf16_read;
    self->base.bytes_read = utf16_bytes_read;
    self->base.interrupt = utf16_interrupt;
    self->base.close = utf16_close;
    self->base.total_bytes = inner->total_bytes;
    self->inner = inner;
    self->budget = budget;
    self->is_big_endian = head[0] == 0xfe;
    self->pos = UNIT; /* the mark itself */
    self->end = size;
    memcpy(self->input, head, size);
    return &self->base;
}
