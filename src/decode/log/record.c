#include "decode/log/record.h"

#include <string.h>

#include "base/ascii.h"
#include "decode/log/message.h"

#define NONE SIZE_MAX

/* A member of an object, or of an object within it. */
struct member {
    struct text key, value; /* a string without its quotes, or a number */
};

static size_t skip_spaces(struct text line, size_t at)
{
    while (at < line.size && (line.bytes[at] == ' ' || line.bytes[at] == '\t'))
        at++;
    return at;
}

/* The quote that ends the string which begins at `at`, after its own quote; NONE if it is missing.
 */
static size_t string_end(struct text line, size_t at)
{
    for (; at < line.size && line.bytes[at] != '"'; at++)
        at += line.bytes[at] == '\\';
    return at < line.size ? at : NONE;
}

/* Finds the next member from *at on whose value is a string or a number. */
static bool next_member(struct text line, size_t *at, struct member *member)
{
    while (*at < line.size) {
        if (line.bytes[*at] != '"') {
            ++*at;
            continue;
        }
        size_t key = *at + 1, end = string_end(line, key);
        if (end == NONE)
            return false;
        *at = skip_spaces(line, end + 1);
        if (*at == line.size || line.bytes[*at] != ':')
            continue;
        member->key = (struct text){line.bytes + key, end - key};
        size_t value = skip_spaces(line, *at + 1);
        bool is_string = value < line.size && line.bytes[value] == '"';
        value += is_string;
        end = is_string ? string_end(line, value) : value;
        if (end == NONE)
            return false;
        while (!is_string && end < line.size && ascii_is_digit(line.bytes[end]))
            end++;
        *at = end + is_string;
        member->value = (struct text){line.bytes + value, end - value};
        if (is_string || end > value)
            return true;
    }
    return false;
}

static void take_member(const struct member *member, struct log_prefix *prefix)
{
    static const char *const containers[] = {"pod", "pod_name", "container", "container_name"};
    int64_t number;
    bool is_number = text_number(member->value, &number);
    if (is_number && prefix->rank < 0 && text_equals(member->key, "rank"))
        prefix->rank = number;
    if (is_number && prefix->pid < 0 && text_equals(member->key, "pid"))
        prefix->pid = number;
    if (prefix->container.size == 0 &&
        text_is_one_of(member->key, containers, sizeof(containers) / sizeof(containers[0])))
        prefix->container = member->value;
}

/* True if a traceback or an error may be in the text. */
static bool has_more(struct text text)
{
    struct text after;
    return text_find(text, "File \\") || text_find(text, "Traceback") ||
           oom_text_find(text, &after);
}

/* Narrows the prefix to the message, and takes what stands before each line of it. */
static void narrow(struct text line, struct text message, struct log_prefix *prefix)
{
    size_t begin = (size_t)(message.bytes - line.bytes), end = begin + message.size;
    if (has_more((struct text){line.bytes, begin}) ||
        has_more((struct text){line.bytes + end, line.size - end}))
        return;
    struct log_prefix inner = log_prefix_of(message);
    prefix->size = begin + inner.size;
    prefix->end = end;
    prefix->rank = inner.rank >= 0 ? inner.rank : prefix->rank;
    prefix->pid = inner.pid >= 0 ? inner.pid : prefix->pid;
    if (inner.container.size > 0)
        prefix->container = inner.container;
}

void log_record_take(struct text line, struct log_prefix *prefix)
{
    static const char *const messages[] = {"message", "msg", "log", "text"};
    size_t at = skip_spaces(line, prefix->size);
    struct member member;
    struct text message = {NULL, 0};
    if (at == line.size || line.bytes[at] != '{')
        return;
    while (next_member(line, &at, &member)) {
        take_member(&member, prefix);
        if (!message.bytes &&
            text_is_one_of(member.key, messages, sizeof(messages) / sizeof(messages[0])))
            message = member.value;
    }
    if (message.bytes)
        narrow(line, message, prefix);
}
