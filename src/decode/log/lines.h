/* The lines of a log, without terminal sequences, in bounded memory. */
#ifndef MEMSNAP_DECODE_LOG_LINES_H
#define MEMSNAP_DECODE_LOG_LINES_H

#include "base/text.h"
#include "decode/core/source.h"

#define LOG_LINE_MOST    ((size_t)64 * 1024)
#define LOG_LINE_OVERLAP ((size_t)8 * 1024) /* longer than any text of an error */

/* A line, or a piece of a line that is longer than LOG_LINE_MOST. */
struct log_line {
    struct text text;  /* valid until the next call */
    uint64_t number;   /* from 1 */
    uint64_t offset;   /* of the line in the decoded bytes */
    bool is_continued; /* the next piece repeats the last LOG_LINE_OVERLAP bytes */
};

enum log_escape { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_CONTROL, ESCAPE_STRING };

struct log_lines {
    struct source *source;
    char *held; /* a line that is not in the source's buffer as a whole, or has sequences */
    size_t held_size;
    enum log_escape escape;
    uint64_t number, offset; /* of the current line */
    uint64_t count;          /* of the lines so far; the last may lack a line feed */
    bool is_continued;       /* the last piece handed out had is_continued set */
    bool has_line;           /* bytes were read since the last line ended */
};

bool log_lines_open(struct log_lines *lines, struct source *source, struct error *err);
void log_lines_close(struct log_lines *lines);
/* Line feeds and carriage returns end lines. `*found` is false at the end of the log. */
bool log_lines_next(struct log_lines *lines, struct log_line *line, bool *found, struct error *err);
/* Calls `take` for each line of the source. Stops, and returns false, if it returns false. */
bool log_lines_each(struct source *source,
                    bool (*take)(void *self, const struct log_line *line, struct error *err),
                    void *self, struct error *err);

#endif
