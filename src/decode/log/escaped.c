#include "decode/log/escaped.h"

static size_t backslashes_at(struct text text, size_t at)
{
    size_t size = 0;
    while (at + size < text.size && text.bytes[at + size] == '\\')
        size++;
    return size;
}

static size_t backslashes_before(struct text text, size_t at)
{
    size_t size = 0;
    while (size < at && text.bytes[at - 1 - size] == '\\')
        size++;
    return size;
}

bool escaped_lines_open(struct escaped_lines *lines, struct text text)
{
    static const char feed[] = "n  File ";
    const char *file = text_find(text, "File \\"), *frame = text_find(text, feed);
    lines->rest = text;
    lines->backslashes = 0;
    if (frame)
        lines->backslashes = backslashes_before(text, (size_t)(frame - text.bytes));
    if (lines->backslashes == 0 && file) {
        size_t at = (size_t)(file - text.bytes) + strlen("File ");
        size_t size = backslashes_at(text, at);
        if (at + size < text.size && text.bytes[at + size] == '"')
            lines->backslashes = (size + 1) / 2; /* a quote has one more for each before it */
    }
    return lines->backslashes > 0;
}

static void put(struct escaped_lines *lines, struct text *line, char c)
{
    if (line->size < ESCAPED_LINE)
        lines->line[line->size++] = c;
}

bool escaped_lines_next(struct escaped_lines *lines, struct text *line)
{
    struct text from = lines->rest;
    size_t at = 0;
    if (from.size == 0)
        return false;
    *line = (struct text){lines->line, 0};
    while (at < from.size) {
        size_t run = backslashes_at(from, at);
        char next = at + run < from.size ? from.bytes[at + run] : '\0';
        at += run + (at + run < from.size);
        if (run == lines->backslashes && (next == 'n' || next == 'r'))
            break;
        /* those before a quote only protect it */
        for (size_t i = 0; next != '"' && i < run / (2 * lines->backslashes); i++)
            put(lines, line, '\\');
        put(lines, line, next);
    }
    lines->rest = (struct text){from.bytes + at, from.size - at};
    return true;
}
