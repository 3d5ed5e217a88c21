/* Reads the events of a Chrome trace. */
#include <stdlib.h>
#include <string.h>

#include "decode/profiler/chrome.h"

#define LARGEST_TIME_US (INT64_MAX / 1000 / 4) /* so that sums of two times do not overflow */
#define NAME_MOST       ((size_t)4096)         /* longer names are cut */

/* Compares with a literal, without a call. */
#define IS(text, literal)                                                                          \
    ((text).size == sizeof(literal) - 1 && memcmp((text).bytes, literal, sizeof(literal) - 1) == 0)

static uint8_t category_of(struct text text)
{
    if (IS(text, "cpu_op") || IS(text, "Operator"))
        return CATEGORY_OPERATORS;
    if (IS(text, "python_function"))
        return CATEGORY_PYTHON;
    if (IS(text, "user_annotation"))
        return CATEGORY_ANNOTATIONS;
    return IS(text, "cpu_instant_event") ? CATEGORY_MEMORY : CATEGORY_IGNORED;
}

/* Reads microseconds with or without a fraction, as nanoseconds. */
static bool read_time(struct chrome *chrome, int64_t *time_ns)
{
    struct json_number number;
    uint64_t offset;
    uint8_t byte;
    int64_t whole = 0, fraction = 0, unit = 100;
    if (!json_offset(&chrome->reader, &offset, chrome->err) ||
        !json_peek(&chrome->reader, &byte, chrome->err))
        return false;
    if (byte != '-' && (byte < '0' || byte > '9'))
        return json_unexpected(&chrome->reader, "a time in microseconds", chrome->err);
    if (!json_read_number(&chrome->reader, &number, chrome->err))
        return false;
    const char *p = number.bytes, *end = number.bytes + number.size;
    bool negative = *p == '-';
    for (p += negative; p < end && *p >= '0' && *p <= '9' && whole <= LARGEST_TIME_US; p++)
        whole = whole * 10 + (*p - '0');
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, unit /= 10)
            fraction += unit * (*p - '0');
    if (p < end && (*p == 'e' || *p == 'E')) {
        char digits[JSON_MAX_NUMBER + 1];
        memcpy(digits, number.bytes, number.size);
        digits[number.size] = '\0';
        double real = strtod(digits, NULL);
        whole = real > -1e15 && real < 1e16 ? (int64_t)(real < 0 ? -real : real) : INT64_MAX;
        fraction = 0;
    }
    if (whole > LARGEST_TIME_US)
        return error_set_at(chrome->err, STATUS_BAD_INPUT, offset,
                            "expected a time in microseconds, found one out of range");
    *time_ns = whole * 1000 + fraction;
    if (negative)
        *time_ns = -*time_ns;
    return true;
}

/* A process or thread: a number or a string. */
static bool read_thread_name(struct chrome *chrome, struct thread_name *name)
{
    struct json_number number;
    struct text text;
    uint8_t byte;
    if (!json_peek(&chrome->reader, &byte, chrome->err))
        return false;
    if (byte == '"') {
        if (!json_read_string(&chrome->reader, "a thread", &text, chrome->err))
            return false;
    } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
        if (!json_read_number(&chrome->reader, &number, chrome->err))
            return false;
        text = (struct text){number.bytes, number.size};
    } else {
        return json_skip(&chrome->reader, chrome->err);
    }
    name->size = text.size < THREAD_KEY_HALF ? text.size : THREAD_KEY_HALF;
    memcpy(name->bytes, text.bytes, name->size);
    return true;
}

static bool hold(struct chrome *chrome, struct buffer *buffer, struct text text)
{
    buffer_clear(buffer);
    text = text_first(text, NAME_MOST);
    buffer_add(buffer, text.bytes, text.size);
    return !buffer->failed || error_out_of_memory(chrome->err);
}

/* ARGUMENTS if the argument does not matter. */
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
        if (argument == ARGUMENT_SEQUENCE && byte != '-' && (byte < '0' || byte > '9'))
            return json_skip(reader, chrome->err);
        event->present |= 1u << argument;
        return json_read_integer(reader, "a whole number", &event->arguments[argument],
                                 chrome->err);
    }
    if (IS(key, "Call stack")) {
        struct text text;
        return json_read_string(reader, "a call stack (a string)", &text, chrome->err) &&
               hold(chrome, &chrome->call_stack, text);
    }
    return json_skip(reader, chrome->err);
}

/* True if further arguments say nothing more of the event. */
static bool knows_enough(const struct chrome_event *event)
{
    const uint32_t of_memory = (1u << ARGUMENTS) - 1 - (1u << ARGUMENT_SEQUENCE);
    return event->present == of_memory || event->category == CATEGORY_IGNORED ||
           event->category == CATEGORY_PYTHON || event->category == CATEGORY_ANNOTATIONS;
}

static bool read_arguments(struct chrome *chrome, struct chrome_event *event)
{
    struct json_reader *reader = &chrome->reader;
    uint8_t byte;
    bool more;
    if (!json_peek(reader, &byte, chrome->err))
        return false;
    if (byte != '{')
        return json_skip(reader, chrome->err);
    if (!json_open(reader, '{', "args (an object)", &more, chrome->err))
        return false;
    while (more) {
        if (knows_enough(event))
            return json_leave(reader, chrome->err);
        struct text key;
        if (!json_read_key(reader, &key, chrome->err) || !read_argument(chrome, event, key) ||
            !json_more(reader, '{', &more, chrome->err))
            return false;
    }
    return true;
}

static bool read_phase(struct chrome *chrome, struct chrome_event *event)
{
    struct text text;
    if (!json_read_string(&chrome->reader, "a phase (a string)", &text, chrome->err))
        return false;
    event->phase = text.size == 1 ? text.bytes[0] : '?';
    return true;
}

static bool read_member(struct chrome *chrome, struct chrome_event *event, struct text key)
{
    struct text text;
    if (IS(key, "ph"))
        return read_phase(chrome, event);
    if (IS(key, "ts")) {
        event->has_time = true;
        return read_time(chrome, &event->time_ns);
    }
    if (IS(key, "dur"))
        return read_time(chrome, &event->duration_ns);
    if (IS(key, "pid"))
        return read_thread_name(chrome, &event->process);
    if (IS(key, "tid"))
        return read_thread_name(chrome, &event->thread);
    if (IS(key, "args"))
        return read_arguments(chrome, event);
    if (IS(key, "cat")) {
        if (!json_read_string(&chrome->reader, "a category (a string)", &text, chrome->err))
            return false;
        event->category = category_of(text);
        return true;
    }
    if (IS(key, "name") && event->category != CATEGORY_IGNORED)
        return json_read_string(&chrome->reader, "a name (a string)", &text, chrome->err) &&
               hold(chrome, &chrome->name, text);
    return json_skip(&chrome->reader, chrome->err);
}

static bool find_thread(struct chrome *chrome, const struct chrome_event *event, uint16_t *thread)
{
    char key[2 * THREAD_KEY_HALF + 1];
    size_t size = event->process.size;
    memcpy(key, event->process.bytes, size);
    key[size++] = ':';
    memcpy(key + size, event->thread.bytes, event->thread.size);
    size += event->thread.size;
    if (size != chrome->last_thread_size || memcmp(key, chrome->last_thread_key, size) != 0) {
        if (!profile_thread(chrome->profile, (struct text){key, size}, &chrome->last_thread,
                            chrome->err))
            return false;
        memcpy(chrome->last_thread_key, key, size);
        chrome->last_thread_size = size;
    }
    *thread = chrome->last_thread;
    return true;
}

static int64_t signed_of(struct json_integer integer)
{
    int64_t magnitude =
        integer.magnitude > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)integer.magnitude;
    return integer.negative ? -magnitude : magnitude;
}

/* Nonzero device types: the CPU is 0. A trace has accelerators of one type. */
static bool find_device(struct chrome *chrome, const struct chrome_event *event, uint32_t *device)
{
    const struct json_integer *id = &event->arguments[ARGUMENT_DEVICE_ID];
    bool is_cpu = event->present & 1u << ARGUMENT_DEVICE_TYPE
                      ? event->arguments[ARGUMENT_DEVICE_TYPE].magnitude == 0
                      : id->negative;
    if (!is_cpu && id->magnitude > INT32_MAX)
        return error_set_at(chrome->err, STATUS_BAD_INPUT, event->offset,
                            "a device number out of range");
    *device = is_cpu ? DEVICE_HOST : id->negative ? 0 : (uint32_t)id->magnitude;
    return true;
}

static bool add_memory(struct chrome *chrome, const struct chrome_event *event)
{
    struct profile *profile = chrome->profile;
    struct profile_memory memory = {.time_ns = event->time_ns};
    if (!(event->present & 1u << ARGUMENT_BYTES) || !event->has_time)
        return error_set_at(chrome->err, STATUS_BAD_INPUT, event->offset,
                            "expected a [memory] event with 'ts' and 'Bytes'");
    memory.bytes = signed_of(event->arguments[ARGUMENT_BYTES]);
    const struct json_integer *addr = &event->arguments[ARGUMENT_ADDR];
    memory.addr = addr->negative ? 0 - addr->magnitude : addr->magnitude;
    memory.total = memory.reserved = -1;
    if (event->present & 1u << ARGUMENT_TOTAL_ALLOCATED)
        memory.total = signed_of(event->arguments[ARGUMENT_TOTAL_ALLOCATED]);
    if (event->present & 1u << ARGUMENT_TOTAL_RESERVED)
        memory.reserved = signed_of(event->arguments[ARGUMENT_TOTAL_RESERVED]);
    if (!(event->present & 1u << ARGUMENT_ADDR))
        profile->facts.no_addresses = true;
    if (profile->memory_count == UINT32_MAX - 1)
        return error_set_at(chrome->err, STATUS_LIMIT, event->offset,
                            "more than %u [memory] events", UINT32_MAX - 1);
    return find_device(chrome, event, &memory.device) &&
           find_thread(chrome, event, &memory.thread) &&
           vec_push(profile->memory, profile->memory_count, profile->memory_capacity,
                    profile->budget, chrome->err, memory);
}

/* Before 2022, ranges of record_function() were operators. */
static bool is_annotation(struct text name)
{
    return text_starts(name, "ProfilerStep#") || text_starts(name, "Optimizer.") ||
           text_starts(name, "## ");
}

/* False if the range tells nothing. */
static bool range_kind_of(const struct chrome_event *event, struct text name, uint8_t *kind)
{
    if (event->category == CATEGORY_PYTHON) {
        *kind = text_starts(name, "nn.Module: ") ? RANGE_MODULE : RANGE_PYTHON;
        return !text_starts(name, "<built-in ");
    }
    if (event->category == CATEGORY_ANNOTATIONS || is_annotation(name))
        *kind = RANGE_ANNOTATION;
    else if (text_starts(name, "autograd::engine::evaluate_function"))
        *kind = RANGE_ENGINE;
    else
        *kind = RANGE_OPERATOR;
    return event->category != CATEGORY_MEMORY;
}

static bool add_range(struct chrome *chrome, const struct chrome_event *event, struct text name)
{
    struct profile *profile = chrome->profile;
    const struct json_integer *sequence = &event->arguments[ARGUMENT_SEQUENCE];
    int64_t duration = event->duration_ns;
    struct profile_range range = {.start_ns = event->time_ns};
    uint16_t thread;
    uint8_t kind;
    string_id stack;
    if (!event->has_time || duration < 0 || !range_kind_of(event, name, &kind))
        return true;
    range.duration_ns =
        (uint64_t)(duration > RANGE_LONGEST ? RANGE_LONGEST : duration) & RANGE_LONGEST;
    if (kind == RANGE_PYTHON || chrome->call_stack.size > 0)
        profile->facts.has_python = true;
    range.kind = (unsigned)kind & 0xfu;
    if (event->present & 1u << ARGUMENT_SEQUENCE && !sequence->negative &&
        sequence->magnitude < UINT32_MAX)
        range.sequence = (uint32_t)sequence->magnitude + 1;
    if (!find_thread(chrome, event, &thread) ||
        !symbols_string(profile->symbols, name.bytes, name.size, &range.name, chrome->err))
        return false;
    range.thread = thread;
    if (profile->range_count == UINT32_MAX - 1)
        return error_set_at(chrome->err, STATUS_LIMIT, event->offset, "more than %u ranges",
                            UINT32_MAX - 1);
    if (chrome->call_stack.size > 0 &&
        (!symbols_string(profile->symbols, chrome->call_stack.bytes, chrome->call_stack.size,
                         &stack, chrome->err) ||
         !vec_push(profile->calls, profile->call_count, profile->call_capacity, profile->budget,
                   chrome->err, (struct profile_call){profile->range_count, stack})))
        return false;
    return vec_push(profile->ranges, profile->range_count, profile->range_capacity, profile->budget,
                    chrome->err, range);
}

static bool add_event(struct chrome *chrome, const struct chrome_event *event)
{
    struct text name = {chrome->name.bytes, chrome->name.size};
    if (event->category == CATEGORY_IGNORED || name.size == 0)
        return true;
    if (event->phase == 'i' || event->phase == 'I') {
        chrome->profile->facts.oom_count += text_equals(name, "[OutOfMemory]");
        return !text_equals(name, "[memory]") || add_memory(chrome, event);
    }
    return event->phase != 'X' || add_range(chrome, event, name);
}

bool chrome_read_event(struct chrome *chrome)
{
    struct json_reader *reader = &chrome->reader;
    struct chrome_event event;
    bool more;
    event.phase = 0;
    event.category = CATEGORY_UNSEEN;
    event.has_time = false;
    event.time_ns = event.duration_ns = 0;
    event.process.size = event.thread.size = 0;
    event.present = 0;
    event.arguments[ARGUMENT_ADDR] = event.arguments[ARGUMENT_DEVICE_ID] =
        event.arguments[ARGUMENT_SEQUENCE] = (struct json_integer){0, false};
    buffer_clear(&chrome->name);
    buffer_clear(&chrome->call_stack);
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
    return add_event(chrome, &event);
}
