#include "decode/profiler/frames.h"

#include <string.h>

#include "base/ascii.h"

bool profile_frames_init(struct profile_frames *frames, struct profile *profile, struct error *err)
{
    *frames = (struct profile_frames){.profile = profile};
    size_t count = symbols_string_count(profile->symbols);
    if (!vec_reserve(frames->of_name, frames->name_capacity, count, profile->budget, err))
        return false;
    frames->name_count = count;
    memset(frames->of_name, 0, count * sizeof(*frames->of_name));
    return true;
}

void profile_frames_release(struct profile_frames *frames)
{
    struct budget *budget = frames->profile->budget;
    vec_free(frames->of_name, frames->name_capacity, sizeof(*frames->of_name), budget);
    vec_free(frames->list, frames->capacity, sizeof(*frames->list), budget);
}

static bool push(struct profile_frames *frames, frame_id frame, struct error *err)
{
    return vec_push(frames->list, frames->count, frames->capacity, frames->profile->budget, err,
                    frame);
}

/* Splits "FILE(LINE): FUNCTION". Anything else is a function without a file. */
static void split(struct text text, struct text *file, uint32_t *line, struct text *name)
{
    *file = (struct text){"", 0};
    *line = 0;
    *name = text;
    for (size_t at = text.size; at-- > 2;) {
        uint64_t number = 0, unit = 1;
        size_t digit = at;
        if (text.bytes[at] != ')' || text.size - at < 3 || text.bytes[at + 1] != ':')
            continue;
        while (digit > 0 && ascii_is_digit(text.bytes[digit - 1]) && at - digit < 9) {
            number += unit * (uint64_t)(text.bytes[--digit] - '0');
            unit *= 10;
        }
        if (digit == at || digit == 0 || text.bytes[digit - 1] != '(')
            continue;
        *file = (struct text){text.bytes, digit - 1};
        *line = (uint32_t)number;
        *name = (struct text){text.bytes + at + 3, text.size - at - 3};
        return;
    }
}

static bool make_frame(struct profile_frames *frames, struct text file, uint32_t line,
                       struct text name, frame_id *id, struct error *err)
{
    struct symbols *symbols = frames->profile->symbols;
    struct frame frame = {.line = line};
    return symbols_string(symbols, file.bytes, file.size, &frame.file, err) &&
           symbols_string(symbols, name.bytes, name.size, &frame.name, err) &&
           symbols_frame(symbols, frame, id, err);
}

/* Splits "FILE:LINE". The number is 0 if it is no line. */
static uint32_t split_line(struct text text, struct text *file)
{
    uint64_t number = 0, unit = 1;
    size_t at = text.size;
    while (at > 0 && text.size - at < 9 && ascii_is_digit(text.bytes[at - 1])) {
        number += unit * (uint64_t)(text.bytes[--at] - '0');
        unit *= 10;
    }
    if (at < 2 || text.bytes[at - 1] != ':')
        return 0;
    *file = (struct text){text.bytes, at - 1};
    return (uint32_t)number;
}

bool profile_frames_in_file(const struct profile_frames *frames, string_id function, string_id line)
{
    const struct symbols *symbols = frames->profile->symbols;
    struct text whole, part = {"", 0}, name;
    uint32_t number;
    split(symbols_text(symbols, function), &whole, &number, &name);
    if (split_line(symbols_text(symbols, line), &part) == 0 || part.size > whole.size)
        return false;
    return memcmp(whole.bytes + whole.size - part.size, part.bytes, part.size) == 0;
}

bool profile_frames_add(struct profile_frames *frames, const struct range_label *label,
                        string_id at, struct error *err)
{
    const struct symbols *symbols = frames->profile->symbols;
    struct text text = symbols_text(symbols, label->name), file = {"", 0}, name, whole;
    uint32_t line = 0;
    frame_id id;
    if (at != STRING_EMPTY) {
        split(text, &file, &line, &name);
        return make_frame(frames, file, split_line(symbols_text(symbols, at), &whole), name, &id,
                          err) &&
               push(frames, id, err);
    }
    if (frames->of_name[label->name] != 0)
        return push(frames, frames->of_name[label->name] - 1, err);
    name = text;
    if (label->kind == RANGE_PYTHON)
        split(text, &file, &line, &name);
    else if (label->kind == RANGE_MODULE)
        file = (struct text){MODULE_FILE, strlen(MODULE_FILE)};
    if (!make_frame(frames, file, line, name, &id, err))
        return false;
    frames->of_name[label->name] = id + 1;
    return push(frames, id, err);
}

bool profile_frames_add_calls(struct profile_frames *frames, string_id calls, struct error *err)
{
    struct text rest = symbols_text(frames->profile->symbols, calls);
    while (rest.size > 0) {
        const char *end = memchr(rest.bytes, ';', rest.size);
        size_t size = end ? (size_t)(end - rest.bytes) : rest.size;
        struct text file, name;
        uint32_t line;
        frame_id id;
        split((struct text){rest.bytes, size}, &file, &line, &name);
        if (!make_frame(frames, file, line, name, &id, err) || !push(frames, id, err))
            return false;
        size_t step = end ? size + 1 : size;
        rest = (struct text){rest.bytes + step, rest.size - step};
    }
    return true;
}
