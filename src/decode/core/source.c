#include "decode/core/source.h"

#include <stdlib.h>
#include <string.h>

#include "decode/core/gzip.h"
#include "decode/core/readahead.h"
#include "decode/core/source_stream.h"
#include "decode/core/utf16.h"

/* Reads are several times as fast if memory addresses and file offsets are multiples of this, so
 * the unread bytes are moved to near the front, such that they end at a multiple. */
#define ALIGNMENT ((size_t)64)

_Static_assert(STREAM_ROOM + READAHEAD_SLOT <= SOURCE_WINDOW && STREAM_PAD >= SOURCE_PAD,
               "what is lent must fit into the own buffer, too");

static size_t allocated(size_t capacity)
{
    return ALIGNMENT + capacity + SOURCE_PAD;
}

/* The buffer position for `have` bytes such that they end aligned. */
static size_t aligned_start(size_t have)
{
    return (0 - have) % ALIGNMENT;
}

/* Moves the unread bytes into `buffer`. */
static void move_unread(struct source *source, uint8_t *buffer)
{
    size_t have = (size_t)(source->end - source->pos);
    size_t start = aligned_start(have);
    uint64_t offset = source->buffer == NULL ? 0 : source_offset(source);

    if (have > 0)
        memmove(buffer + start, source->pos, have);
    memset(buffer + start + have, 0, SOURCE_PAD);
    source->buffer = buffer;
    source->buffer_start = offset - start;
    source->pos = buffer + start;
    source->end = source->pos + have;
}

static bool resize(struct source *source, size_t capacity, struct error *err)
{
    uint8_t *old = source->own, *buffer;

    if (!budget_take(source->budget, allocated(capacity), err))
        return false;
    buffer = aligned_alloc(ALIGNMENT, allocated(capacity));
    if (buffer == NULL) {
        budget_give(source->budget, allocated(capacity));
        return error_out_of_memory(err);
    }
    move_unread(source, buffer);
    if (old != NULL)
        budget_give(source->budget, allocated(source->capacity));
    free(old);
    source->own = buffer;
    source->capacity = capacity;
    return true;
}

/* Reads once, at most `size` bytes, and appends them to the unread bytes. A read that fails may
 * have written part of them, which do not count: zeros follow the unread bytes in any case. */
static bool top_up(struct source *source, size_t size, struct error *err)
{
    uint8_t *end = source->buffer + (source->end - source->buffer);
    size_t got;

    if (!source->stream->read(source->stream, end, size, &got, err)) {
        memset(end, 0, SOURCE_PAD);
        return false;
    }
    source->at_eof = got == 0;
    source->end = end + got;
    memset(end + got, 0, SOURCE_PAD);
    return true;
}

/* Like top_up(), but goes on in memory that the stream lends, to whose front it moves the unread
 * bytes. `*done` is false if the stream lends none now, or these bytes are too many. */
static bool top_up_lent(struct source *source, bool *done, struct error *err)
{
    size_t have = (size_t)(source->end - source->pos), got;
    uint64_t offset = source_offset(source);
    uint8_t *lent;

    *done = false;
    if (source->stream->lend == NULL || have > STREAM_ROOM)
        return true;
    if (!source->stream->lend(source->stream, &lent, &got, err))
        return false;
    if (lent == NULL)
        return true;
    *done = true;
    source->at_eof = got == 0;
    memcpy(lent - have, source->pos, have);
    memset(lent + got, 0, SOURCE_PAD);
    source->buffer = lent - STREAM_ROOM;
    source->buffer_start = offset - (STREAM_ROOM - have);
    source->pos = lent - have;
    source->end = lent + got;
    return true;
}

/* Another stream will hand these bytes out. */
static void drop_unread(struct source *source)
{
    source->end = source->pos;
    source->at_eof = false;
    memset(source->buffer, 0, SOURCE_PAD);
}

_Static_assert(GZIP_INPUT <= UTF16_INPUT, "utf16_stream() takes over what was read for gzip");

/* Takes over `stream`. Checks the first bytes for gzip and UTF-16. A thread reads ahead of a file.
 */
static bool open_stream(struct source *out, struct source_stream *stream, bool is_file,
                        struct budget *budget, struct error *err)
{
    struct source source = {.stream = stream, .budget = budget};
    size_t size;

    if (!resize(&source, SOURCE_WINDOW, err))
        goto fail;
    while (source.end - source.pos < 2 && !source.at_eof)
        if (!top_up(&source, GZIP_INPUT - (size_t)(source.end - source.pos), err))
            goto fail;
    size = (size_t)(source.end - source.pos);
    if (gzip_begins(source.buffer, size)) {
        source.stream = gzip_stream(stream, source.buffer, size, gzip_default_limits, budget, err);
        if (source.stream != NULL)
            source.stream = readahead_stream(source.stream, budget, err);
        if (source.stream == NULL)
            goto fail;
        source.compression = COMPRESSION_GZIP;
        drop_unread(&source);
    } else if (utf16_begins(source.pos, size)) {
        source.stream = utf16_stream(stream, source.pos, size, budget, err);
        if (source.stream == NULL)
            goto fail;
        drop_unread(&source);
    } else if (is_file) {
        source.stream = readahead_stream(stream, budget, err);
        if (source.stream == NULL)
            goto fail;
    }
    *out = source;
    return true;
fail:
    source_close(&source);
    return false;
}

bool source_open_fd(struct source *source, int fd, struct budget *budget, struct error *err)
{
    struct source_stream *stream = source_stream_fd(fd, budget, err);

    return stream != NULL && open_stream(source, stream, true, budget, err);
}

bool source_open_memory(struct source *source, const void *bytes, size_t size,
                        struct budget *budget, struct error *err)
{
    struct source_stream *stream = source_stream_memory(bytes, size, budget, err);

    return stream != NULL && open_stream(source, stream, false, budget, err);
}

void source_close(struct source *source)
{
    if (source->stream != NULL)
        source->stream->close(source->stream);
    if (source->own != NULL)
        budget_give(source->budget, allocated(source->capacity));
    free(source->own);
    *source = (struct source){0};
}

/* Reads once into the own buffer, to which it moves the unread bytes. */
static bool top_up_own(struct source *source, size_t count, struct error *err)
{
    const uint8_t *limit;
    size_t room;

    if (source->buffer != source->own || (size_t)(source->pos - source->buffer) >= ALIGNMENT)
        move_unread(source, source->own);
    /* a buffer that had to grow once should not be filled completely from then on */
    limit = count <= SOURCE_WINDOW ? source->pos + SOURCE_WINDOW
                                   : source->own + ALIGNMENT + source->capacity;
    room = (size_t)(limit - source->end);
    if (room >= ALIGNMENT)
        room -= room % ALIGNMENT;
    return room == 0 ? resize(source, source->capacity * 2, err) : top_up(source, room, err);
}

bool source_fill(struct source *source, size_t count, struct error *err)
{
    bool done;

    if ((size_t)(source->end - source->pos) >= count || source->at_eof)
        return true;
    if (source->failed) {
        *err = source->failure;
        return false;
    }
    while ((size_t)(source->end - source->pos) < count && !source->at_eof)
        if (!top_up_lent(source, &done, err) || (!done && !top_up_own(source, count, err)))
            return false;
    return true;
}

void source_look_ahead(struct source *source, size_t count)
{
    if (!source->failed && !source_fill(source, count, &source->failure))
        source->failed = true;
}

uint64_t source_bytes_read(const struct source *source)
{
    return source->stream->bytes_read(source->stream);
}

uint64_t source_total_bytes(const struct source *source)
{
    return source->stream->total_bytes;
}
