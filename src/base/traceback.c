#include "base/traceback.h"

#include <string.h>

#include "base/ascii.h"

#define INNERMOST_WITHIN ((size_t)16 << 10) /* bytes, so that each read takes bounded time */

static const char file_word[] = "File \"", line_word[] = "\", line ", in_word[] = ", in ";

/* Removes a prefix. */
static bool skip(struct text *text, const char *prefix, size_t size)
{
    if (text->size < size || memcmp(text->bytes, prefix, size) != 0)
        return false;
    text->bytes += size;
    text->size -= size;
    return true;
}

/* Reads a number of at least one digit. */
static bool read_number(struct text *text, uint32_t *number)
{
    uint64_t value = 0;
    size_t size = 0;
    while (size < text->size && ascii_is_digit(text->bytes[size])) {
        value = 10 * value + (uint64_t)(text->bytes[size] - '0');
        if (value > UINT32_MAX)
            value = (uint64_t)UINT32_MAX + 1;
        size++;
    }
    *number = value > UINT32_MAX ? 0 : (uint32_t)value;
    text->bytes += size;
    text->size -= size;
    return size > 0;
}

/* Reads what follows the file's opening quote, all of it on one line. A file's name may contain
 * quotes: it ends at the first quote that a line number follows. */
static bool read_line(struct text text, struct traceback_line *line)
{
    const char *begin = text.bytes, *end = text.bytes + text.size;
    for (const char *p = begin; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return false;
        struct text rest = {p, (size_t)(end - p)};
        struct traceback_line found = {.file = {begin, (size_t)(p - begin)}};
        if (!skip(&rest, line_word, sizeof(line_word) - 1) || !read_number(&rest, &found.number))
            continue;
        if (skip(&rest, in_word, sizeof(in_word) - 1))
            found.name = rest;
        else if (rest.size > 0)
            continue;
        *line = found;
        return true;
    }
    return false;
}

bool traceback_next(struct text *rest, struct traceback_line *line)
{
    while (rest->size > 0) {
        const char *end = memchr(rest->bytes, '\n', rest->size);
        struct text text = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size};
        size_t used = text.size + (end != NULL);
        rest->bytes += used;
        rest->size -= used;
        while (text.size > 0 && (*text.bytes == ' ' || *text.bytes == '\t'))
            skip(&text, text.bytes, 1);
        if (skip(&text, file_word, sizeof(file_word) - 1) && read_line(text, line))
            return true;
    }
    return false;
}

static bool line_frame(struct symbols *symbols, const struct traceback_line *line,
                       struct frame *frame, struct error *err)
{
    frame->line = line->number;
    return symbols_string(symbols, line->file.bytes, line->file.size, &frame->file, err) &&
           symbols_string(symbols, line->name.bytes, line->name.size, &frame->name, err);
}

bool traceback_innermost(struct symbols *symbols, string_id text, frame_id *frame, bool *found,
                         struct error *err)
{
    struct text rest = text_last(symbols_text(symbols, text), INNERMOST_WITHIN);
    struct traceback_line line, last;
    struct frame made = {0};
    *found = false;
    while (traceback_next(&rest, &line)) {
        last = line;
        *found = true;
    }
    return !*found ||
           (line_frame(symbols, &last, &made, err) && symbols_frame(symbols, made, frame, err));
}

void traceback_frames_release(struct traceback_frames *frames)
{
    vec_free(frames->of_string, frames->capacity, sizeof(*frames->of_string), frames->budget);
}

static bool read_frame(struct symbols *symbols, string_id string, frame_id *id, struct error *err)
{
    struct frame frame = {.name = string};
    struct text rest = symbols_text(symbols, string);
    struct traceback_line line;
    if (traceback_next(&rest, &line) && !line_frame(symbols, &line, &frame, err))
        return false;
    return symbols_detail(symbols, &(struct frame_detail){.text = string}, &frame.detail, err) &&
           symbols_frame(symbols, frame, id, err);
}

bool traceback_frame(struct traceback_frames *frames, string_id string, frame_id *frame,
                     struct error *err)
{
    if (string < frames->count && frames->of_string[string] != 0) {
        *frame = frames->of_string[string] - 1;
        return true;
    }
    frame_id id;
    if (!read_frame(frames->symbols, string, &id, err) ||
        !vec_reserve(frames->of_string, frames->capacity, (size_t)string + 1, frames->budget, err))
        return false;
    while (frames->count <= string)
        frames->of_string[frames->count++] = 0;
    frames->of_string[string] = id + 1;
    *frame = id;
    return true;
}

/* True if all frames were strings and one of them names a line of code. */
bool traceback_is_ordered(const struct symbols *symbols, const frame_id *frames, size_t count)
{
    bool has_line = false;
    for (size_t i = 0; i < count; i++) {
        struct frame frame = symbols_frame_at(symbols, frames[i]);
        string_id text = symbols_detail_at(symbols, frame.detail).text;
        if (text == STRING_EMPTY)
            return false;
        has_line = has_line || frame.name != text;
    }
    return has_line;
}

void traceback_order(const struct symbols *symbols, frame_id *frames, size_t count)
{
    if (!traceback_is_ordered(symbols, frames, count))
        return;
    for (size_t i = 0, j = count; i + 1 < j; i++) {
        frame_id outer = frames[i];
        frames[i] = frames[--j];
        frames[j] = outer;
    }
}
