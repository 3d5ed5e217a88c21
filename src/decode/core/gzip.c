#include "decode/core/gzip.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/units.h"

/* Memory that zlib allocates for inflating, rounded up: its state and a window of 32 KiB. */
#define ZLIB_BYTES ((size_t)48 * 1024)

const struct gzip_limits gzip_default_limits = {.free_bytes = UINT64_C(1) << 30, .max_ratio = 256};

enum gzip_state {
    BEFORE_MEMBER, /* between members; at least one has been read */
    IN_MEMBER,
    IN_PADDING, /* zero bytes up to the end */
    AT_END,
};

struct gzip {
    struct source_stream base;
    struct source_stream *inner;
    struct budget *budget;
    enum gzip_state state;
    bool inner_ended;
    uint64_t compressed; /* bytes read from `inner`, including those still in `input` */
    uint64_t inflated;   /* bytes handed out */
    struct gzip_limits limits;
    z_stream z;
    uint8_t input[GZIP_INPUT];
};

static uint64_t compressed_offset(const struct gzip *self)
{
    return self->compressed - self->z.avail_in;
}

/* Moves the unread bytes to the front and reads more. */
static bool refill(struct gzip *self, struct error *err)
{
    size_t left = self->z.avail_in, got;

    if (left > 0)
        memmove(self->input, self->z.next_in, left);
    self->z.next_in = self->input;
    if (!self->inner->read(self->inner, self->input + left, GZIP_INPUT - left, &got, err))
        return false;
    self->inner_ended = got == 0;
    self->z.avail_in += (uInt)got;
    self->compressed += got;
    return true;
}

static bool skip_padding(struct gzip *self, struct error *err)
{
    while (self->z.avail_in > 0 || !self->inner_ended) {
        for (; self->z.avail_in > 0; self->z.next_in++, self->z.avail_in--)
            if (*self->z.next_in != 0)
                return error_set(err, STATUS_BAD_INPUT,
                                 "garbage after the gzip data, at compressed byte %" PRIu64,
                                 compressed_offset(self));
        if (!self->inner_ended && !refill(self, err))
            return false;
    }
    self->state = AT_END;
    return true;
}

/* Determines whether another member, padding or the end follows. */
static bool next_member(struct gzip *self, struct error *err)
{
    while (self->z.avail_in < 2 && !self->inner_ended)
        if (!refill(self, err))
            return false;
    if (gzip_begins(self->z.next_in, self->z.avail_in)) {
        inflateReset(&self->z);
        self->state = IN_MEMBER;
        return true;
    }
    self->state = IN_PADDING;
    return skip_padding(self, err);
}

static bool check_ratio(const struct gzip *self, struct error *err)
{
    uint64_t offset = compressed_offset(self);
    char free_bytes[UNITS_TEXT_SIZE];

    if (self->inflated <= self->limits.free_bytes ||
        self->inflated / self->limits.max_ratio < offset)
        return true;
    return error_set(err, STATUS_LIMIT,
                     "gzip data that inflates to over %s and %" PRIu64
                     " times its size, at compressed byte %" PRIu64 " (decompress it first)",
                     units_bytes(free_bytes, (int64_t)self->limits.free_bytes, UNIT_AUTO),
                     self->limits.max_ratio, offset);
}

/* Inflates until there is at least one byte of output or the member ends. */
static bool inflate_some(struct gzip *self, uint8_t *bytes, size_t size, size_t *got,
                         struct error *err)
{
    uInt room = size > UINT_MAX ? UINT_MAX : (uInt)size;
    int code;

    self->z.next_out = bytes;
    self->z.avail_out = room;
    do {
        if (self->z.avail_in == 0 && !self->inner_ended && !refill(self, err))
            return false;
        if (self->z.avail_in == 0)
            return error_set(err, STATUS_BAD_INPUT, GZIP_CUT_SHORT " at compressed byte %" PRIu64,
                             compressed_offset(self));
        code = inflate(&self->z, Z_NO_FLUSH);
    } while (code == Z_OK && self->z.avail_out == room);
    if (code == Z_STREAM_END)
        self->state = BEFORE_MEMBER;
    else if (code == Z_MEM_ERROR)
        return error_out_of_memory(err);
    else if (code != Z_OK)
        return error_set(err, STATUS_BAD_INPUT,
                         "gzip data is damaged near compressed byte %" PRIu64 ": %s",
                         compressed_offset(self),
                         self->z.msg != NULL ? self->z.msg : "a preset dictionary is needed");
    self->inflated += room - self->z.avail_out;
    if (!check_ratio(self, err))
        return false;
    *got = room - self->z.avail_out;
    return true;
}

static bool gzip_read(struct source_stream *stream, uint8_t *bytes, size_t size, size_t *got,
                      struct error *err)
{
    struct gzip *self = (struct gzip *)stream;
    size_t count = 0;

    while (count == 0 && self->state != AT_END) {
        bool ok;

        if (self->state == IN_MEMBER)
            ok = inflate_some(self, bytes, size, &count, err);
        else if (self->state == BEFORE_MEMBER)
            ok = next_member(self, err);
        else
            ok = skip_padding(self, err);
        if (!ok)
            return false;
    }
    *got = count;
    return true;
}

static uint64_t gzip_bytes_read(const struct source_stream *stream)
{
    return compressed_offset((const struct gzip *)stream);
}

static void gzip_interrupt(struct source_stream *stream)
{
    struct gzip *self = (struct gzip *)stream;

    self->inner->interrupt(self->inner);
}

static void gzip_close(struct source_stream *stream)
{
    struct gzip *self = (struct gzip *)stream;

    inflateEnd(&self->z);
    self->inner->close(self->inner);
    budget_give(self->budget, sizeof(*self) + ZLIB_BYTES);
    free(self);
}

struct source_stream *gzip_stream(struct source_stream *inner, const uint8_t *head, size_t size,
                                  struct gzip_limits limits, struct budget *budget,
                                  struct error *err)
{
    struct gzip *self;

    if (!budget_take(budget, sizeof(*self) + ZLIB_BYTES, err))
        goto fail;
    self = calloc(1, sizeof(*self));
    /* 15: the largest window; + 16: only the gzip format */
    if (self == NULL || inflateInit2(&self->z, 15 + 16) != Z_OK) {
        free(self);
        budget_give(budget, sizeof(*self) + ZLIB_BYTES);
        error_out_of_memory(err);
        goto fail;
    }
    self->base.read = gzip_read;
    self->base.bytes_read = gzip_bytes_read;
    self->base.interrupt = gzip_interrupt;
    self->base.close = gzip_close;
    self->base.total_bytes = inner->total_bytes;
    self->inner = inner;
    self->budget = budget;
    self->limits = limits;
    self->state = IN_MEMBER;
    memcpy(self->input, head, size);
    self->z.next_in = self->input;
    self->z.avail_in = (uInt)size;
    self->compressed = size;
    return &self->base;
fail:
    inner->close(inner);
    return NULL;
}
