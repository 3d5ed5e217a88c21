/* The processes whose lines a log mixes. Each has a stream of its own, with the traceback and the
 * text of an error that its next lines may go on with. */
#ifndef MEMSNAP_DECODE_LOG_STREAMS_H
#define MEMSNAP_DECODE_LOG_STREAMS_H

#include "decode/log/message.h"
#include "decode/log/prefix.h"
#include "decode/log/traceback.h"

#define LOG_STREAMS_MOST 1024 /* processes with an open traceback or text; 30 MiB */
#define LOG_MESSAGE_MOST ((size_t)4096)

/* The output of one process. */
struct log_stream {
    int64_t rank, pid;
    uint64_t container; /* a hash of its name */
    uint64_t worker;    /* the last process of a DataLoader that the log says was killed; 0: none */
    uint64_t used;      /* the number of its last line */
    struct traceback traceback;
    bool has_message;
    struct oom_message message; /* its text is complete later */
    unsigned message_lines;
    size_t text_size;
    char text[LOG_MESSAGE_MOST];
};

/* All zero, but for the budget: there is none. */
struct log_streams {
    struct log_stream *items[LOG_STREAMS_MOST];
    size_t count, last;    /* last: the one that was found last */
    struct budget *budget; /* not owned */
};

/* Finds the stream of a line's process. NULL on failure. Sets *is_other if there was none: then the
 * stream is a new one, without a message, or that of another process, which has printed nothing for
 * longest. The caller finishes its message, and calls log_stream_begin(). */
struct log_stream *log_streams_find(struct log_streams *streams, const struct log_prefix *prefix,
                                    uint64_t line, bool *is_other, struct error *err);
void log_streams_release(struct log_streams *streams);

/* Makes it the stream of another process. */
void log_stream_begin(struct log_stream *stream, const struct log_prefix *prefix);

/* True if lines that hold nothing of interest by themselves matter for the stream. */
bool log_stream_is_open(const struct log_stream *stream);

/* Adds to the text of the message, as far as there is room. Frames of tables and escaped line feeds
 * become spaces. */
void log_stream_append(struct log_stream *stream, struct text piece);
void log_stream_append_line(struct log_stream *stream, struct text line);

#endif
