#include "decode/log/oom_log.h"

#include <string.h>

#include "decode/log/escaped.h"
#include "decode/log/lines.h"
#include "decode/log/record.h"
#include "decode/log/streams.h"

#define MESSAGE_LINES 12    /* a text of one line may have been broken into more */
#define OPEN_LINES    1024  /* lines after which an incomplete error is given up */
#define STACKS_MOST   10000 /* a log with more errors than this needs no more stacks */

struct log {
    struct symbols *symbols;
    const struct oom_sink *sink;
    struct log_streams streams;
    size_t open_count;
    uint64_t swept; /* number of a line: see sweep() */
    uint64_t stacks;
    bool any_told; /* an error was passed on */
};

/* The line that a library prints before the exception that it raises for the same error. */
static bool is_announcement(struct text text)
{
    return text_starts(text, "THCudaCheck FAIL") || text_starts(text, "Unexpected bus error");
}

static bool is_announced(const struct log_stream *stream)
{
    return stream->has_message && is_announcement((struct text){stream->text, stream->text_size});
}

/* The death of one worker raises two exceptions in a row. The second one leaves out the reason, so
 * it is not reported. */
static bool is_told(struct log_stream *stream)
{
    const struct oom_message *message = &stream->message;
    bool is_same =
        message->source == OOM_SOURCE_EXIT && stream->worker == message->processes[0].pid;
    bool is_worker = message->source == OOM_SOURCE_WORKER || message->source == OOM_SOURCE_SHM;
    if (is_worker && message->process_count > 0)
        stream->worker = message->processes[0].pid;
    return is_same && message->process_count > 0;
}

/* torchrun kills the other processes where one has failed, so an error before explains it. */
static bool is_explained(const struct log *log, const struct log_stream *stream)
{
    return log->any_told &&
           text_starts((struct text){stream->text, stream->text_size}, OOM_TEXT_SIGKILL);
}

/* Parses the text and passes the message on. */
static bool finish_message(struct log *log, struct log_stream *stream, struct error *err)
{
    if (!stream->has_message)
        return true;
    stream->has_message = false;
    if (is_explained(log, stream) ||
        !oom_text_parse((struct text){stream->text, stream->text_size}, &stream->message) ||
        is_told(stream))
        return true;
    log->any_told = true;
    return log->sink->message(log->sink->self, &stream->message, err);
}

/* Finishes the message before the text of another. */
static bool finish_before(struct log *log, struct log_stream *stream, uint64_t line,
                          struct text next, struct error *err)
{
    /* a bus error announces the death of a worker; THCudaCheck announces any other error */
    bool is_same = is_announced(stream) && !is_announcement(next) &&
                   (stream->text[0] == 'U') == text_starts(next, "DataLoader");
    if (is_same && line - stream->message.line <= OPEN_LINES)
        stream->has_message = false;
    return finish_message(log, stream, err);
}

/* Finds the stream of a line. If it takes the place of another one, finishes that one's message. */
static bool find_stream(struct log *log, const struct log_prefix *prefix, uint64_t line,
                        struct log_stream **found, struct error *err)
{
    bool is_other;
    struct log_stream *stream = log_streams_find(&log->streams, prefix, line, &is_other, err);
    if (!stream)
        return false;
    if (is_other) {
        log->open_count -= log_stream_is_open(stream);
        if (!finish_message(log, stream, err))
            return false;
        log_stream_begin(stream, prefix);
    }
    *found = stream;
    return true;
}

/* "torch.OutOfMemoryError" before ": CUDA out of memory" */
static bool take_exception(struct log *log, struct text line, const char *at,
                           struct oom_message *message, struct error *err)
{
    const char *end = at - 2, *begin = end;
    if (at - line.bytes < 3 || memcmp(end, ": ", 2) != 0)
        return true;
    while (begin > line.bytes && end - begin < TRACEBACK_NAME &&
           (begin[-1] == '.' || begin[-1] == '_' || (begin[-1] >= 'A' && begin[-1] <= 'Z') ||
            (begin[-1] >= 'a' && begin[-1] <= 'z')))
        begin--;
    begin += begin > line.bytes && begin[-1] == '\\'; /* the n of an escaped line feed */
    size_t size = (size_t)(end - begin);
    if (size < 5 || memcmp(end - 5, "Error", 5) != 0)
        return true;
    return symbols_string(log->symbols, begin, size, &message->exception, err);
}

static bool begin_message(struct log *log, struct log_stream *stream,
                          const struct log_prefix *prefix, const struct log_line *line,
                          const char *at, struct error *err)
{
    struct oom_message *message = &stream->message;
    *message = (struct oom_message){.line = line->number,
                                    .offset = line->offset,
                                    .column = (uint64_t)(at - line->text.bytes),
                                    .rank = stream->rank,
                                    .pid = stream->pid,
                                    .device = -1};
    stream->has_message = true;
    stream->text_size = 0;
    stream->message_lines = 1;
    if (!symbols_string(log->symbols, prefix->container.bytes, prefix->container.size,
                        &message->container, err))
        return false;
    if (log->stacks >= STACKS_MOST)
        return true;
    log->stacks++;
    bool ok = take_exception(log, line->text, at, message, err) &&
              traceback_stack(&stream->traceback, log->symbols, &message->stack, err);
    traceback_clear(&stream->traceback);
    return ok;
}

/* Takes in the frames of a traceback within a string; false if there are none. */
static bool take_escaped(struct log_stream *stream, struct text text)
{
    struct escaped_lines lines;
    struct text line;
    if (!escaped_lines_open(&lines, text))
        return false;
    while (escaped_lines_next(&lines, &line))
        if (lines.rest.size > 0 || traceback_may_begin(line)) /* the last may be any part of JSON */
            traceback_take(&stream->traceback, line);
    return true;
}

/* Takes in the text of an error in a line, after `before`. The last in a line may go on in the next
 * lines. */
static bool take_text(struct log *log, const struct log_prefix *prefix, const struct log_line *line,
                      struct text before, struct text text, const char *next, struct error *err)
{
    struct log_stream *stream;
    if (!find_stream(log, prefix, line->number, &stream, err))
        return false;
    bool was_open = log_stream_is_open(stream);
    if (!finish_before(log, stream, line->number, text, err))
        return false;
    take_escaped(stream, before);
    if (!begin_message(log, stream, prefix, line, text.bytes, err))
        return false;
    log_stream_append(stream, next ? (struct text){text.bytes, (size_t)(next - text.bytes)} : text);
    log->open_count += log_stream_is_open(stream);
    log->open_count -= was_open;
    return true;
}

static bool take_texts(struct log *log, struct log_prefix prefix, const struct log_line *line,
                       const char *at, struct text rest, struct error *err)
{
    const char *end = line->text.bytes + line->text.size, *from = line->text.bytes + prefix.size;
    /* texts that begin later than this are whole in the next piece */
    const char *last = line->is_continued ? end - LOG_LINE_OVERLAP : end;
    while (at && at < last) {
        const char *next = oom_text_find(rest, &rest);
        struct text before = {from, from < at ? (size_t)(at - from) : 0};
        int64_t rank = log_prefix_last_rank(before);
        prefix.rank = rank >= 0 ? rank : prefix.rank;
        if (!take_text(log, &prefix, line, before, (struct text){at, (size_t)(end - at)}, next,
                       err))
            return false;
        from = at;
        at = next;
    }
    return true;
}

/* Takes in a line of an open stream, or one that may begin a traceback. */
static bool take_other(struct log *log, struct log_stream *stream, struct text line,
                       struct error *err)
{
    if (stream->has_message && stream->message_lines < MESSAGE_LINES)
        log_stream_append_line(stream, line);
    else if (!is_announced(stream) && !finish_message(log, stream, err))
        return false;
    if (!take_escaped(stream, line))
        traceback_take(&stream->traceback, line);
    return true;
}

/* Closes the streams of processes that print no more, so that the lines of others are fast again.
 */
static bool sweep(struct log *log, uint64_t line, struct error *err)
{
    log->swept = line;
    log->open_count = 0;
    for (size_t i = 0; i < log->streams.count; i++) {
        struct log_stream *stream = log->streams.items[i];
        if (stream->used + OPEN_LINES < line) {
            traceback_clear(&stream->traceback);
            if (!finish_message(log, stream, err))
                return false;
        }
        log->open_count += log_stream_is_open(stream);
    }
    return true;
}

static bool take_line(struct log *log, const struct log_line *line, struct error *err)
{
    struct text after;
    const char *at = oom_text_find(line->text, &after);
    if (log->open_count > 0 && line->number > log->swept + OPEN_LINES &&
        !sweep(log, line->number, err))
        return false;
    if (!at && log->open_count == 0 && !traceback_may_begin(line->text))
        return true;
    struct log_prefix prefix = log_prefix_of(line->text);
    struct log_line narrowed = *line;
    if (!line->is_continued)
        log_record_take(line->text, &prefix);
    narrowed.text.size = prefix.end;
    if (at)
        return take_texts(log, prefix, &narrowed, at, after, err);
    struct text rest = {line->text.bytes + prefix.size, prefix.end - prefix.size};
    struct log_stream *stream;
    if (!find_stream(log, &prefix, line->number, &stream, err))
        return false;
    bool was_open = log_stream_is_open(stream);
    bool ok = take_other(log, stream, rest, err);
    log->open_count += log_stream_is_open(stream);
    log->open_count -= was_open;
    return ok;
}

static bool take_lines(struct log *log, struct log_lines *lines, struct error *err)
{
    struct log_line line;
    bool found;
    for (;;) {
        if (!log_lines_next(lines, &line, &found, err))
            return false;
        if (!found)
            break;
        if (!take_line(log, &line, err) ||
            (log->sink->line && !log->sink->line(log->sink->self, &line, err)))
            return false;
    }
    for (size_t i = 0; i < log->streams.count; i++)
        if (!finish_message(log, log->streams.items[i], err))
            return false;
    return true;
}

bool decode_oom_log(struct source *source, struct symbols *symbols, const struct oom_sink *sink,
                    uint64_t *lines, struct error *err)
{
    struct log log = {.symbols = symbols, .streams = {.budget = source->budget}, .sink = sink};
    struct log_lines reader;
    if (!log_lines_open(&reader, source, err))
        return false;
    bool ok = take_lines(&log, &reader, err);
    *lines = reader.count;
    log_streams_release(&log.streams);
    log_lines_close(&reader);
    return ok;
}
