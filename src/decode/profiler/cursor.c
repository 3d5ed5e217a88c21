#include "decode/profiler/range_bytes.h"

struct range_stream range_stream_begin(const struct range_run *run)
{
    return (struct range_stream){.at = run->bytes, .end = run->bytes + run->size};
}

uint32_t range_stream_next(struct range_stream *stream, const struct range_label *labels)
{
    struct profile_range *head = &stream->head;
    uint64_t first = take_number(&stream->at);
    uint32_t label = (uint32_t)(first >> 1);
    head->start_ns = (int64_t)((uint64_t)head->start_ns + take_difference(&stream->at));
    head->duration_ns = (int64_t)take_number(&stream->at);
    head->label = labels[label];
    head->sequence = 0;
    if (first & 1)
        head->sequence = stream->sequence =
            (uint32_t)(stream->sequence + take_difference(&stream->at));
    return label;
}

static bool starts_before(const struct profile_range *a, const struct profile_range *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->duration_ns > b->duration_ns;
}

/* Moves to the stream whose next range comes first; of equals, to the one that the file has first.
 */
static void take_first(struct range_cursor *cursor)
{
    unsigned first = 0;
    cursor->more = cursor->stream_count > 0;
    if (!cursor->more)
        return;
    for (unsigned i = 1; i < cursor->stream_count; i++)
        if (starts_before(&cursor->streams[i].head, &cursor->streams[first].head))
            first = i;
    struct range_stream *stream = &cursor->streams[first];
    cursor->range = stream->head;
    if (stream->at < stream->end) {
        range_stream_next(stream, cursor->ranges->labels);
        return;
    }
    cursor->stream_count--;
    for (unsigned i = first; i < cursor->stream_count; i++)
        cursor->streams[i] = cursor->streams[i + 1];
}

struct range_cursor range_cursor_begin(const struct ranges *ranges, size_t thread)
{
    struct range_cursor cursor;
    cursor.ranges = ranges;
    cursor.stream_count = 0;
    cursor.number = 0;
    if (thread < ranges->thread_count) {
        const struct range_thread *of = &ranges->threads[thread];
        uint32_t run = of->first;
        cursor.number = of->ranges_before;
        for (uint32_t i = 0; i < of->run_count; i++, run = ranges->runs[run].next) {
            struct range_stream *stream = &cursor.streams[cursor.stream_count++];
            *stream = range_stream_begin(&ranges->runs[run]);
            range_stream_next(stream, ranges->labels);
        }
    }
    take_first(&cursor);
    return cursor;
}

void range_cursor_step(struct range_cursor *cursor)
{
    cursor->number++;
    take_first(cursor);
}
