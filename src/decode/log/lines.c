#include "decode/log/lines.h"

#include <stdlib.h>
#include <string.h>

#define ESC '\x1b'

bool log_lines_open(struct log_lines *lines, struct source *source, struct error *err)
{
    struct log_lines opened = {.source = source, .number = 1};
    if (!budget_take(source->budget, LOG_LINE_MOST, err))
        return false;
    opened.held = malloc(LOG_LINE_MOST);
    if (!opened.held) {
        budget_give(source->budget, LOG_LINE_MOST);
        return error_out_of_memory(err);
    }
    *lines = opened;
    return true;
}

void log_lines_close(struct log_lines *lines)
{
    free(lines->held);
    budget_give(lines->source->budget, LOG_LINE_MOST);
}

/* True if `c` belongs to a terminal sequence: colours and the like, or a string such as a link. */
static bool is_escaped(struct log_lines *lines, char c)
{
    unsigned char byte = (unsigned char)c;
    switch (lines->escape) {
    case ESCAPE_NONE:
        lines->escape = c == ESC ? ESCAPE_BEGUN : ESCAPE_NONE;
        return c == ESC;
    case ESCAPE_BEGUN:
        lines->escape = c == '[' ? ESCAPE_CONTROL : c == ']' ? ESCAPE_STRING : ESCAPE_NONE;
        return true;
    case ESCAPE_CONTROL:
        if (byte >= 0x40 && byte <= 0x7e)
            lines->escape = ESCAPE_NONE;
        return true;
    case ESCAPE_STRING:
        if (c == '\a')
            lines->escape = ESCAPE_NONE;
        else if (c == ESC)
            lines->escape = ESCAPE_BEGUN; /* ESC \ ends the string */
        return true;
    }
    return false;
}

/* Adds bytes to the held line as far as there is room. Returns the number of bytes consumed. */
static size_t hold(struct log_lines *lines, const char *bytes, size_t size)
{
    size_t room = LOG_LINE_MOST - lines->held_size;
    if (lines->escape == ESCAPE_NONE && !memchr(bytes, ESC, size)) {
        size_t taken = size < room ? size : room;
        memcpy(lines->held + lines->held_size, bytes, taken);
        lines->held_size += taken;
        return taken;
    }
    size_t i = 0;
    for (; i < size && lines->held_size < LOG_LINE_MOST; i++)
        if (!is_escaped(lines, bytes[i]))
            lines->held[lines->held_size++] = bytes[i];
    return i;
}

static const char *find_end(const char *bytes, size_t size)
{
    const char *feed = memchr(bytes, '\n', size);
    const char *carriage = memchr(bytes, '\r', feed ? (size_t)(feed - bytes) : size);
    return carriage ? carriage : feed;
}

/* Starts the next line, or the next piece of a line. */
static void begin(struct log_lines *lines)
{
    if (lines->is_continued) {
        size_t from = lines->held_size - LOG_LINE_OVERLAP;
        memmove(lines->held, lines->held + from, LOG_LINE_OVERLAP);
        lines->held_size = LOG_LINE_OVERLAP;
        lines->is_continued = false;
    } else if (!lines->has_line) {
        lines->held_size = 0;
        lines->escape = ESCAPE_NONE;
        lines->offset = source_offset(lines->source);
    }
}

static void finish(struct log_lines *lines, struct text text, struct log_line *line)
{
    *line = (struct log_line){text, lines->number, lines->offset, false};
    lines->has_line = false;
}

bool log_lines_next(struct log_lines *lines, struct log_line *line, bool *found, struct error *err)
{
    struct source *source = lines->source;
    begin(lines);
    for (;;) {
        if (source->pos == source->end && !source_fill(source, 1, err))
            return false;
        const char *bytes = (const char *)source->pos;
        size_t size = (size_t)(source->end - source->pos);
        if (size == 0) {
            *found = lines->has_line;
            if (*found)
                lines->count = lines->number;
            finish(lines, (struct text){lines->held, lines->held_size}, line);
            return true;
        }
        const char *end = find_end(bytes, size);
        size_t part = end ? (size_t)(end - bytes) : size;
        if (end && !lines->has_line && part <= LOG_LINE_MOST && !memchr(bytes, ESC, part)) {
            source->pos += part + 1;
            finish(lines, (struct text){bytes, part}, line);
            lines->count = lines->number;
            lines->number += *end == '\n';
            *found = true;
            return true;
        }
        lines->has_line = true;
        size_t taken = hold(lines, bytes, part);
        source->pos += taken;
        if (taken < part || lines->held_size == LOG_LINE_MOST) {
            lines->is_continued = *found = true;
            *line = (struct log_line){
                {lines->held, lines->held_size}, lines->number, lines->offset, true};
            return true;
        }
        if (end) {
            source->pos++;
            finish(lines, (struct text){lines->held, lines->held_size}, line);
            lines->count = lines->number;
            lines->number += *end == '\n';
            *found = true;
            return true;
        }
    }
}

bool log_lines_each(struct source *source,
                    bool (*take)(void *self, const struct log_line *line, struct error *err),
                    void *self, struct error *err)
{
    struct log_lines lines;
    struct log_line line;
    bool found = true, ok = true;
    if (!log_lines_open(&lines, source, err))
        return false;
    while (ok && (ok = log_lines_next(&lines, &line, &found, err)) && found)
        ok = take(self, &line, err);
    log_lines_close(&lines);
    return ok;
}
