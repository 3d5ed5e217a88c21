/* Keeps what events of a Chrome trace say in the profile. */
#include <string.h>

#include "decode/profiler/chrome.h"

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

/* Returns false for a range that is not kept. */
static bool range_kind_of(const struct chrome_event *event, struct text name, struct text from,
                          uint8_t *kind)
{
    if (event->category == CATEGORY_BUILT_IN) {
        *kind = RANGE_BUILT_IN;
        return from.size > 0;
    }
    if (event->category == CATEGORY_PYTHON) {
        *kind = text_starts(name, "nn.Module: ") ? RANGE_MODULE : RANGE_PYTHON;
        return !chrome_is_built_in(name);
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
    struct symbols *symbols = profile->symbols;
    const struct json_integer *sequence = &event->arguments[ARGUMENT_SEQUENCE];
    struct profile_range range = {.start_ns = event->time_ns, .duration_ns = event->duration_ns};
    struct text calls = {chrome->call_stack.bytes, chrome->call_stack.size};
    struct text from = {chrome->call_from.bytes, chrome->call_from.size};
    uint16_t thread;
    if (!event->has_time || event->duration_ns < 0 ||
        !range_kind_of(event, name, from, &range.label.kind))
        return true;
    if (event->category == CATEGORY_PYTHON && from.size == 0)
        chrome->profile->facts.lacks_lines = true;
    if (range.label.kind == RANGE_PYTHON || calls.size > 0)
        profile->facts.has_python = true;
    if (event->present & 1u << ARGUMENT_SEQUENCE && !sequence->negative &&
        sequence->magnitude < UINT32_MAX)
        range.sequence = (uint32_t)sequence->magnitude + 1;
    return find_thread(chrome, event, &thread) &&
           symbols_string(symbols, name.bytes, name.size, &range.label.name, chrome->err) &&
           (calls.size == 0 ||
            symbols_string(symbols, calls.bytes, calls.size, &range.label.calls, chrome->err)) &&
           (from.size == 0 ||
            symbols_string(symbols, from.bytes, from.size, &range.label.from, chrome->err)) &&
           ranges_add(&profile->ranges, thread, &range, chrome->err);
}

/* Kernels and copies on a device, and the calls that launch them. Those without a correlation say
 * nothing. */
static bool add_work(struct chrome *chrome, const struct chrome_event *event)
{
    struct profile *profile = chrome->profile;
    const struct json_integer *correlation = &event->arguments[ARGUMENT_CORRELATION];
    if (!(event->present & 1u << ARGUMENT_CORRELATION) || !event->has_time ||
        event->duration_ns < 0)
        return true;
    if (profile->launch_count + profile->kernel_count >= UINT32_MAX - 1)
        return error_set_at(chrome->err, STATUS_LIMIT, event->offset, "more than %u kernels",
                            UINT32_MAX - 1);
    if (event->category == CATEGORY_KERNELS)
        return vec_push(profile->kernels, profile->kernel_count, profile->kernel_capacity,
                        profile->budget, chrome->err,
                        (struct profile_kernel){correlation->magnitude, event->duration_ns});
    struct profile_launch launch = {.correlation = correlation->magnitude,
                                    .time_ns = event->time_ns};
    return find_thread(chrome, event, &launch.thread) &&
           vec_push(profile->launches, profile->launch_count, profile->launch_capacity,
                    profile->budget, chrome->err, launch);
}

bool chrome_keep_event(struct chrome *chrome, const struct chrome_event *event)
{
    struct text name = {chrome->name.bytes, chrome->name.size};
    if (event->category == CATEGORY_KERNELS || event->category == CATEGORY_LAUNCHES)
        return event->phase != 'X' || add_work(chrome, event);
    if (event->category == CATEGORY_IGNORED ||
        (name.size == 0 && event->category != CATEGORY_BUILT_IN))
        return true;
    if (event->phase == 'i' || event->phase == 'I') {
        chrome->profile->facts.oom_count += text_equals(name, "[OutOfMemory]");
        return !text_equals(name, "[memory]") || add_memory(chrome, event);
    }
    return event->phase != 'X' || add_range(chrome, event, name);
}
