#include "decode/log/streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

bool log_stream_is_open(const struct log_stream *stream)
{
    return stream->has_message || stream->traceback.count > 0;
}

void log_stream_append(struct log_stream *stream, struct text piece)
{
    static const char bar[] = "\xe2\x94\x82"; /* U+2502 of Rich's frame */
    const char *bytes = piece.bytes, *end = bytes + piece.size;
    while (bytes < end && stream->text_size < LOG_MESSAGE_MOST) {
        bool is_bar = end - bytes >= 3 && memcmp(bytes, bar, 3) == 0;
        bool is_feed = end - bytes >= 2 && bytes[0] == '\\' &&
                       bytes[1] == 'n'; /* an escaped line feed in JSON */
        stream->text[stream->text_size++] = is_bar || is_feed ? ' ' : *bytes;
        bytes += is_bar ? 3 : is_feed ? 2 : 1;
    }
}

void log_stream_append_line(struct log_stream *stream, struct text line)
{
    log_stream_append(stream, (struct text){"\n", 1});
    log_stream_append(stream, line);
    stream->message_lines++;
}

static struct log_stream *oldest(struct log_streams *streams)
{
    size_t oldest = 0;
    for (size_t i = 1; i < streams->count; i++)
        if (streams->items[i]->used < streams->items[oldest]->used)
            oldest = i;
    streams->last = oldest;
    return streams->items[oldest];
}

static struct log_stream *add(struct log_streams *streams, struct error *err)
{
    if (!budget_take(streams->budget, sizeof(struct log_stream), err))
        return NULL;
    struct log_stream *stream = malloc(sizeof(*stream));
    if (!stream) {
        budget_give(streams->budget, sizeof(*stream));
        error_out_of_memory(err);
        return NULL;
    }
    stream->has_message = false;
    traceback_clear(&stream->traceback);
    streams->last = streams->count;
    streams->items[streams->count++] = stream;
    return stream;
}

static uint64_t container_of(const struct log_prefix *prefix)
{
    return hash_bytes(prefix->container.bytes, prefix->container.size, hash_seed());
}

static bool is_of(const struct log_stream *stream, const struct log_prefix *prefix,
                  uint64_t container)
{
    return stream->rank == prefix->rank && stream->pid == prefix->pid &&
           stream->container == container;
}

struct log_stream *log_streams_find(struct log_streams *streams, const struct log_prefix *prefix,
                                    uint64_t line, bool *is_other, struct error *err)
{
    struct log_stream *stream = NULL;
    uint64_t container = container_of(prefix);
    if (streams->count > 0 && is_of(streams->items[streams->last], prefix, container))
        stream = streams->items[streams->last];
    for (size_t i = 0; !stream && i < streams->count; i++)
        if (is_of(streams->items[i], prefix, container)) {
            stream = streams->items[i];
            streams->last = i;
        }
    *is_other = !stream;
    if (!stream)
        stream = streams->count == LOG_STREAMS_MOST ? oldest(streams) : add(streams, err);
    if (stream)
        stream->used = line;
    return stream;
}

void log_streams_release(struct log_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        free(streams->items[i]);
        budget_give(streams->budget, sizeof(*streams->items[i]));
    }
    streams->count = 0;
}

void log_stream_begin(struct log_stream *stream, const struct log_prefix *prefix)
{
    stream->rank = prefix->rank;
    stream->pid = prefix->pid;
    stream->container = container_of(prefix);
    stream->worker = 0;
    stream->has_message = false;
    traceback_clear(&stream->traceback);
}
