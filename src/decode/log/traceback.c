#define _GNU_SOURCE /* memmem */
#include "decode/log/traceback.h"

#include <string.h>

#include "base/ascii.h"

/* Other processes may print between the lines of a traceback. */
#define FOREIGN_MOST 64

static const char header[] = "Traceback (most recent call last)";

static bool has(struct text line, const char *word)
{
    return memmem(line.bytes, line.size, word, strlen(word)) != NULL;
}

bool traceback_may_begin(struct text line)
{
    return has(line, ", line ") || has(line, ".py") || has(line, "Traceback") ||
           has(line, "<ipython-input");
}

void traceback_clear(struct traceback *traceback)
{
    traceback->count = 0;
    traceback->foreign = 0;
    traceback->lead_size = 0;
}

/* Drops leading spaces and the frame that Rich draws around a traceback. */
static struct text trim(struct text line)
{
    static const char bar[] = "\xe2\x94\x82"; /* U+2502 */
    for (;;) {
        if (line.size > 0 && (*line.bytes == ' ' || *line.bytes == '\t'))
            line = (struct text){line.bytes + 1, line.size - 1};
        else if (line.size >= 3 && memcmp(line.bytes, bar, 3) == 0)
            line = (struct text){line.bytes + 3, line.size - 3};
        else
            return line;
    }
}

static bool skip(struct text *text, const char *word)
{
    size_t size = strlen(word);
    if (text->size < size || memcmp(text->bytes, word, size) != 0)
        return false;
    *text = (struct text){text->bytes + size, text->size - size};
    return true;
}

/* Divides the text at `word`, which neither side includes. */
static bool split(struct text text, const char *word, struct text *left, struct text *right)
{
    const char *found = memmem(text.bytes, text.size, word, strlen(word));
    if (!found)
        return false;
    size_t at = (size_t)(found - text.bytes), size = strlen(word);
    *left = (struct text){text.bytes, at};
    *right = (struct text){found + size, text.size - at - size};
    return true;
}

static bool take_line_number(struct text *text, uint32_t *line)
{
    size_t size = 0;
    int64_t number;
    while (size < text->size && ascii_is_digit(text->bytes[size]))
        size++;
    if (!text_number((struct text){text->bytes, size}, &number) || number > INT32_MAX)
        return false;
    *line = (uint32_t)number;
    *text = (struct text){text->bytes + size, text->size - size};
    return true;
}

/* A function's name, without the arguments that IPython prints after it. */
static struct text function_name(struct text text)
{
    size_t size = 0;
    while (size < text.size && text.bytes[size] != ' ' && text.bytes[size] != '(' &&
           text.bytes[size] != '\t')
        size++;
    return (struct text){text.bytes, size};
}

static void copy(char *to, size_t room, struct text from)
{
    if (from.size > 0)
        memcpy(to, from.bytes, from.size);
    to[from.size < room ? from.size : room - 1] = '\0';
}

static void push(struct traceback *traceback, struct text file, uint32_t line, struct text name)
{
    struct traceback_frame *frame = &traceback->frames[traceback->count++ % TRACEBACK_FRAMES];
    copy(frame->file, TRACEBACK_FILE, text_last(file, TRACEBACK_FILE - 1));
    copy(frame->name, TRACEBACK_NAME, text_first(name, TRACEBACK_NAME - 1));
    frame->line = line;
    traceback->foreign = 0;
}

static bool is_python(struct text file)
{
    return file.size > 3 && memcmp(file.bytes + file.size - 3, ".py", 3) == 0;
}

/* Keeps what stands before the indented 'File' of a frame. */
static void keep_lead(struct traceback *traceback, struct text lead)
{
    for (int indent = 0; indent < 2 && lead.size > 0 && lead.bytes[lead.size - 1] == ' '; indent++)
        lead.size--;
    traceback->lead_size = lead.size;
    if (lead.size > 0)
        memcpy(traceback->lead, lead.bytes, lead.size);
}

/* Drops what a logger wrote before the last frame, too: a level, a place in its code, the bar of an
 * exception group. Digits may differ, as those of a time do. */
static struct text strip_lead(const struct traceback *traceback, struct text line)
{
    size_t size = traceback->lead_size;
    if (line.size < size)
        return line;
    for (size_t i = 0; i < size; i++)
        if (line.bytes[i] != traceback->lead[i] &&
            !(ascii_is_digit(line.bytes[i]) && ascii_is_digit(traceback->lead[i])))
            return line;
    return (struct text){line.bytes + size, line.size - size};
}

/* 'File "/app/train.py", line 27, in forward' */
static bool take_plain(struct traceback *traceback, struct text whole)
{
    static const struct text module = {"<module>", 8};
    struct text lead, line, file, rest, name;
    uint32_t number;
    if (!split(whole, "File \"", &lead, &line) || lead.size > TRACEBACK_LEAD ||
        !split(line, "\", line ", &file, &rest) || !take_line_number(&rest, &number))
        return false;
    name = skip(&rest, ", in ") ? rest : module;
    push(traceback, file, number, name);
    keep_lead(traceback, lead);
    return true;
}

/* Rich: '/app/train.py:27 in forward'; IPython: 'File /app/train.py:27, in Model.forward(self, x)',
 * 'Cell In[3], line 5' */
static bool take_fancy(struct traceback *traceback, struct text line)
{
    static const struct text module = {"<module>", 8};
    struct text file, rest;
    uint32_t number;
    if (skip(&line, "Cell In[") && split(line, "], line ", &file, &rest) &&
        take_line_number(&rest, &number)) {
        file = (struct text){file.bytes - 3, file.size + 4}; /* "In[3]" */
        push(traceback, file, number, skip(&rest, ", in ") ? function_name(rest) : module);
        return true;
    }
    skip(&line, "File ");
    if (!split(line, ".py:", &file, &rest) || !take_line_number(&rest, &number) ||
        (!skip(&rest, ", in ") && !skip(&rest, " in ")))
        return false;
    file.size += 3; /* ".py" */
    push(traceback, file, number, function_name(rest));
    return true;
}

/* IPython before 8: '/app/train.py in forward(self, x)', then '--> 27     return ...' */
static bool take_old(struct traceback *traceback, struct text line)
{
    struct text file, rest;
    if (traceback->count > 0 && skip(&line, "--")) {
        struct traceback_frame *last =
            &traceback->frames[(traceback->count - 1) % TRACEBACK_FRAMES];
        while (skip(&line, "-"))
            ;
        return last->line == 0 && skip(&line, "> ") && take_line_number(&line, &last->line);
    }
    if (!split(line, " in ", &file, &rest) || (!is_python(file) && !skip(&file, "<ipython-input")))
        return false;
    push(traceback, file, 0, function_name(rest));
    return true;
}

/* "KeyError: 'x'", "torch.OutOfMemoryError", at the beginning of a line */
static bool is_exception(struct text line)
{
    size_t at = 0;
    while (at < line.size && (line.bytes[at] == '_' || line.bytes[at] == '.' ||
                              (ascii_is_digit(line.bytes[at]) && at > 0) ||
                              (line.bytes[at] >= 'A' && line.bytes[at] <= 'Z') ||
                              (line.bytes[at] >= 'a' && line.bytes[at] <= 'z')))
        at++;
    return at > 0 && (at == line.size || line.bytes[at] == ':');
}

void traceback_take(struct traceback *traceback, struct text whole)
{
    struct text line = strip_lead(traceback, whole), trimmed = trim(line);
    if (has(line, header)) {
        traceback_clear(traceback);
        return;
    }
    if (take_plain(traceback, whole) || take_fancy(traceback, trimmed) ||
        take_old(traceback, trimmed) || traceback->count == 0 || trimmed.bytes != line.bytes)
        return;
    if (line.size > 0 && (is_exception(line) || ++traceback->foreign > FOREIGN_MOST))
        traceback_clear(traceback);
}

bool traceback_stack(const struct traceback *traceback, struct symbols *symbols, stack_id *stack,
                     struct error *err)
{
    frame_id frames[TRACEBACK_FRAMES];
    size_t kept = traceback->count < TRACEBACK_FRAMES ? traceback->count : TRACEBACK_FRAMES;
    for (size_t i = 0; i < kept; i++) {
        const struct traceback_frame *from =
            &traceback->frames[(traceback->count - 1 - i) % TRACEBACK_FRAMES];
        struct frame frame = {.line = from->line};
        if (!symbols_string(symbols, from->file, strlen(from->file), &frame.file, err) ||
            !symbols_string(symbols, from->name, strlen(from->name), &frame.name, err) ||
            !symbols_frame(symbols, frame, &frames[i], err))
            return false;
    }
    return symbols_stack(symbols, frames, kept, stack, err);
}
