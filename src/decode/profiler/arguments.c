/* Reads the arguments of an event of a Chrome trace. */
#include <string.h>

#include "decode/json/members.h"
#include "decode/profiler/chrome.h"

/* The index of an argument; ARGUMENTS if it does not matter. */
static enum chrome_argument argument_of(struct text key)
{
    if (key.size < 4 || key.size > 15)
        return ARGUMENTS;
    if (IS(key, "Bytes"))
        return ARGUMENT_BYTES;
    if (IS(key, "Addr"))
        return ARGUMENT_ADDR;
    if (IS(key, "Total Allocated"))
        return ARGUMENT_TOTAL_ALLOCATED;
    if (IS(key, "Total Reserved"))
        return ARGUMENT_TOTAL_RESERVED;
    if (IS(key, "Device Id"))
        return ARGUMENT_DEVICE_ID;
    if (IS(key, "Device Type"))
        return ARGUMENT_DEVICE_TYPE;
    if (IS(key, "correlation"))
        return ARGUMENT_CORRELATION;
    return IS(key, "Sequence number") ? ARGUMENT_SEQUENCE : ARGUMENTS;
}

static bool read_argument(struct chrome *chrome, struct chrome_event *event, struct text key)
{
    struct json_reader *reader = &chrome->reader;
    enum chrome_argument argument = argument_of(key);
    uint8_t byte;
    if (argument < ARGUMENTS) {
        if (!json_peek(reader, &byte, chrome->err))
            return false;
        bool may_differ = argument == ARGUMENT_SEQUENCE || argument == ARGUMENT_CORRELATION;
        if (may_differ && byte != '-' && (byte < '0' || byte > '9'))
            return json_skip(reader, chrome->err);
        event->present |= 1u << argument;
        return json_read_integer(reader, "a whole number", &event->arguments[argument],
                                 chrome->err);
    }
    if (IS(key, "Call stack")) {
        struct text text;
        return json_read_string(reader, "a call stack (a string)", &text, chrome->err) &&
               chrome_hold(chrome, &chrome->call_stack, text);
    }
    if (IS(key, "CallFrom")) {
        struct text text;
        return json_read_string(reader, "a line (a string)", &text, chrome->err) &&
               chrome_hold(chrome, &chrome->call_from, text);
    }
    return json_skip(reader, chrome->err);
}

/* True if further arguments say nothing more of the event. */
static bool knows_enough(const struct chrome_event *event)
{
    const uint32_t of_memory = (1u << ARGUMENT_SEQUENCE) - 1;
    if (event->category == CATEGORY_PYTHON || event->category == CATEGORY_BUILT_IN)
        return event->has_first_argument; /* CallFrom, unless the trace has none */
    if (event->category == CATEGORY_KERNELS || event->category == CATEGORY_LAUNCHES)
        return (event->present & 1u << ARGUMENT_CORRELATION) != 0;
    return event->present == of_memory || event->category == CATEGORY_IGNORED ||
           event->category == CATEGORY_ANNOTATIONS;
}

/* Most operators have a dozen arguments, but no sequence number and no call stack. Skips those. The
 * letters are in the keys that are wanted, and in few others. */
static bool skip_unwanted(struct chrome *chrome)
{
    struct source *source = chrome->reader.source;
    const uint8_t *end = json_find_end(&chrome->reader);
    if (!end)
        return false;
    size_t size = (size_t)(end - source->pos);
    if (memchr(source->pos, 'q', size) || memchr(source->pos, 'k', size))
        return false;
    source->pos = end;
    return true;
}

bool chrome_read_arguments(struct chrome *chrome, struct chrome_event *event)
{
    struct json_reader *reader = &chrome->reader;
    bool more;
    if (!json_open_if_object(reader, "args (an object)", &more, chrome->err))
        return false;
    if (more && event->category == CATEGORY_OPERATORS && skip_unwanted(chrome))
        return true;
    while (more) {
        if (knows_enough(event))
            return json_leave(reader, chrome->err);
        struct text key;
        event->has_first_argument = true;
        if (!json_read_key(reader, &key, chrome->err) || !read_argument(chrome, event, key) ||
            !json_more(reader, '{', &more, chrome->err))
            return false;
    }
    return true;
}
