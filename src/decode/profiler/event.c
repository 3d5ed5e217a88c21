/* Reads the members of an event of a Chrome trace. */
#include <string.h>

#include "decode/profiler/chrome.h"

/* The spellings of 2021 are capitalised. */
static uint8_t work_of(struct text text)
{
    if (IS(text, "kernel") || IS(text, "Kernel") || IS(text, "gpu_memcpy") ||
        IS(text, "gpu_memset") || IS(text, "Memcpy") || IS(text, "Memset"))
        return CATEGORY_KERNELS;
    return IS(text, "cuda_runtime") || IS(text, "cuda_driver") || IS(text, "Runtime")
               ? CATEGORY_LAUNCHES
               : CATEGORY_IGNORED;
}

static uint8_t category_of(const struct profile *profile, struct text text)
{
    if (IS(text, "cpu_op") || IS(text, "Operator"))
        return CATEGORY_OPERATORS;
    if (IS(text, "python_function"))
        return CATEGORY_PYTHON;
    if (IS(text, "user_annotation"))
        return CATEGORY_ANNOTATIONS;
    if (IS(text, "cpu_instant_event"))
        return CATEGORY_MEMORY;
    return profile->wants_kernels ? work_of(text) : CATEGORY_IGNORED;
}

static bool read_phase(struct chrome *chrome, struct chrome_event *event)
{
    struct text text;
    if (!json_read_string(&chrome->reader, "a phase (a string)", &text, chrome->err))
        return false;
    event->phase = text.size == 1 ? text.bytes[0] : '?';
    return true;
}

/* Calls of built-in functions are a third of a trace with stacks, so the rest of their events is
 * skipped early, unless the lines that call them are known. */
static bool read_name(struct chrome *chrome, struct chrome_event *event)
{
    struct text text;
    if (!json_read_string(&chrome->reader, "a name (a string)", &text, chrome->err))
        return false;
    if (event->category == CATEGORY_PYTHON && chrome_is_built_in(text)) {
        event->category = chrome->profile->facts.lacks_lines ? CATEGORY_IGNORED : CATEGORY_BUILT_IN;
        return true;
    }
    return chrome_hold(chrome, &chrome->name, text);
}

static bool read_member(struct chrome *chrome, struct chrome_event *event, struct text key)
{
    struct text text;
    if (IS(key, "ph"))
        return read_phase(chrome, event);
    if (IS(key, "ts")) {
        event->has_time = true;
        return chrome_read_time(chrome, &event->time_ns);
    }
    if (IS(key, "dur"))
        return chrome_read_time(chrome, &event->duration_ns);
    if (IS(key, "pid"))
        return chrome_read_thread_name(chrome, &event->process);
    if (IS(key, "tid"))
        return chrome_read_thread_name(chrome, &event->thread);
    if (IS(key, "args"))
        return chrome_read_arguments(chrome, event);
    if (IS(key, "cat")) {
        if (!json_read_string(&chrome->reader, "a category (a string)", &text, chrome->err))
            return false;
        event->category = category_of(chrome->profile, text);
        return true;
    }
    if (IS(key, "name") && event->category != CATEGORY_IGNORED)
        return read_name(chrome, event);
    return json_skip(&chrome->reader, chrome->err);
}

bool chrome_read_event(struct chrome *chrome)
{
    struct json_reader *reader = &chrome->reader;
    struct chrome_event event;
    bool more;
    event.phase = 0;
    event.category = CATEGORY_UNSEEN;
    event.has_time = event.has_first_argument = false;
    event.time_ns = event.duration_ns = 0;
    event.process.size = event.thread.size = 0;
    event.present = 0;
    event.arguments[ARGUMENT_ADDR] = event.arguments[ARGUMENT_DEVICE_ID] =
        event.arguments[ARGUMENT_SEQUENCE] = (struct json_integer){0, false};
    buffer_clear(&chrome->name);
    buffer_clear(&chrome->call_stack);
    buffer_clear(&chrome->call_from);
    if (!json_offset(reader, &event.offset, chrome->err) ||
        !json_open(reader, '{', "an event (an object)", &more, chrome->err))
        return false;
    while (more) {
        struct text key;
        if (!json_read_key(reader, &key, chrome->err) || !read_member(chrome, &event, key) ||
            !json_more(reader, '{', &more, chrome->err))
            return false;
        if (more && event.category == CATEGORY_IGNORED)
            return json_leave(reader, chrome->err);
    }
    return chrome_keep_event(chrome, &event);
}
