#include "decode/profiler/allocations.h"

#include <string.h>

#include "decode/profiler/chrome.h"
#include "decode/profiler/frames.h"

#define MODULE_PREFIX "nn.Module: "
#define PATH_MOST     ((size_t)1024)

/* An outermost range that allocates. */
struct range_sums {
    struct operator_call row;
    uint32_t call; /* 1 + its number; 0: not handed out yet */
};

struct collector {
    struct profile *profile;
    const struct allocation_sink *sink;
    struct range_sums *sums;
    size_t sums_count, sums_capacity;
    uint32_t *sums_of; /* by range: 1 + the index of its sums, or 0 */
    uint32_t *range;   /* by memory event, or PROFILE_NO_RANGE */
    uint32_t *items;   /* memory events by thread */
    size_t sums_of_capacity, range_capacity, items_capacity;
    uint32_t calls;
    /* What the previous event had. */
    stack_id last_stack;
    string_id last_module;
    struct error *err;
};

static bool by_thread(const void *self, uint32_t a, uint32_t b)
{
    const struct profile_memory *memory = self;
    return memory[a].thread < memory[b].thread;
}

static bool add_sums(struct collector *collector, uint32_t number,
                     const struct profile_range *range)
{
    const struct range_sums sums = {
        .row = {.name = range->label.name, .host_ns = range->duration_ns}};
    if (collector->sums_of[number] != 0)
        return true;
    collector->sums_of[number] = (uint32_t)collector->sums_count + 1;
    return vec_push(collector->sums, collector->sums_count, collector->sums_capacity,
                    collector->profile->budget, collector->err, sums);
}

/* Memory events are in order of time, and the sort is stable. */
static bool find_ranges(struct collector *collector)
{
    struct profile *profile = collector->profile;
    struct profile_walk walk = {0};
    size_t count = profile->memory_count;
    for (size_t i = 0; i < count; i++)
        collector->items[i] = (uint32_t)i;
    if (!profile_sort(collector->items, count, by_thread, profile->memory, profile->budget,
                      collector->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct profile_memory *memory = &profile->memory[collector->items[i]];
        if (i == 0 || memory->thread != profile->memory[collector->items[i - 1]].thread)
            walk = profile_walk_begin(profile, memory->thread);
        uint32_t range = profile_walk_to(&walk, memory->time_ns);
        collector->range[collector->items[i]] = range;
        if (range != PROFILE_NO_RANGE && !add_sums(collector, range, &walk.outermost))
            return false;
    }
    return true;
}

static void sum_kernels(struct collector *collector)
{
    struct profile *profile = collector->profile;
    struct profile_walk walk = {0};
    profile_join_kernels(profile);
    for (size_t i = 0; i < profile->launch_count; i++) {
        const struct profile_launch *launch = &profile->launches[i];
        if (i == 0 || launch->thread != profile->launches[i - 1].thread)
            walk = profile_walk_begin(profile, launch->thread);
        uint32_t range = profile_walk_to(&walk, launch->time_ns);
        if (range == PROFILE_NO_RANGE || collector->sums_of[range] == 0)
            continue;
        struct operator_call *row = &collector->sums[collector->sums_of[range] - 1].row;
        profile_add(&row->kernel_ns, launch->kernel_ns);
        row->kernels += launch->kernels;
    }
}

/* The modules among the frames, outermost first: "Block_0.Linear_1", without the model itself,
 * unless that is all. STRING_EMPTY if there is none. */
static bool module_of_stack(struct collector *collector, stack_id stack, string_id *module)
{
    struct symbols *symbols = collector->profile->symbols;
    char text[PATH_MOST];
    size_t size = 0, modules = 0;
    *module = STRING_EMPTY;
    if (stack == STACK_NONE)
        return true;
    struct stack frames = symbols_stack_at(symbols, stack);
    for (size_t i = frames.count; i-- > 0;) {
        struct frame frame = symbols_frame_at(symbols, frames.frames[i]);
        struct text name = symbols_text(symbols, frame.name);
        if (!text_equals(symbols_text(symbols, frame.file), MODULE_FILE) ||
            !text_starts(name, MODULE_PREFIX))
            continue;
        name.bytes += strlen(MODULE_PREFIX);
        name.size -= strlen(MODULE_PREFIX);
        if (modules++ == 1)
            size = 0;
        name = text_first(name, (PATH_MOST - size) / 2);
        if (size > 0)
            text[size++] = '.';
        memcpy(text + size, name.bytes, name.size);
        size += name.size;
    }
    return size == 0 || symbols_string(symbols, text, size, module, collector->err);
}

static bool find_module(struct collector *collector, const struct profile_memory *memory,
                        string_id *module)
{
    stack_id stack = memory->forward_stack != STACK_NONE ? memory->forward_stack : memory->stack;
    if (stack != collector->last_stack &&
        !module_of_stack(collector, stack, &collector->last_module))
        return false;
    collector->last_stack = stack;
    *module = collector->last_module;
    return true;
}

/* Gives a range its call, unless it has one. */
static bool find_call(struct collector *collector, uint32_t range, uint32_t *call)
{
    *call = NO_OPERATOR_CALL;
    if (range == PROFILE_NO_RANGE)
        return true;
    struct range_sums *sums = &collector->sums[collector->sums_of[range] - 1];
    if (sums->call == 0) {
        if (!collector->sink->call(collector->sink->self, &sums->row, collector->err))
            return false;
        sums->call = ++collector->calls;
    }
    *call = sums->call - 1;
    return true;
}

static bool hand_out(struct collector *collector)
{
    const struct profile *profile = collector->profile;
    for (size_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memory[i];
        struct profiled_allocation row = {
            .device = memory->device,
            .time_us = (profile->base_ns + memory->time_ns) / 1000,
            .addr = memory->addr,
            .bytes = (uint64_t)memory->bytes,
        };
        if (memory->bytes > 0 &&
            (!find_module(collector, memory, &row.module) ||
             !find_call(collector, collector->range[i], &row.call) ||
             !collector->sink->allocation(collector->sink->self, &row, collector->err)))
            return false;
    }
    return true;
}

static bool collect(struct collector *collector)
{
    struct profile *profile = collector->profile;
    struct budget *budget = profile->budget;
    if (profile->facts.no_addresses)
        return error_set(collector->err, STATUS_BAD_INPUT,
                         "the profiler trace has no addresses to join it by; record it with "
                         "PyTorch 1.12 or later");
    if (!profile_prepare(profile, collector->err) ||
        !vec_reserve(collector->sums_of, collector->sums_of_capacity, profile->ranges.count + 1,
                     budget, collector->err) ||
        !vec_reserve(collector->range, collector->range_capacity, profile->memory_count, budget,
                     collector->err) ||
        !vec_reserve(collector->items, collector->items_capacity, profile->memory_count, budget,
                     collector->err))
        return false;
    memset(collector->sums_of, 0, profile->ranges.count * sizeof(*collector->sums_of));
    if (!find_ranges(collector))
        return false;
    sum_kernels(collector);
    return hand_out(collector);
}

bool decode_profiler_allocations(struct source *source, struct symbols *symbols,
                                 const struct allocation_sink *sink, struct error *err)
{
    struct profile profile;
    struct budget *budget = source->budget;
    profile_init(&profile, symbols, budget);
    profile.wants_kernels = true;
    struct collector collector = {
        .profile = &profile, .sink = sink, .last_stack = STACK_NONE, .err = err};
    bool ok = chrome_read(&profile, source, err) && collect(&collector);
    vec_free(collector.sums, collector.sums_capacity, sizeof(*collector.sums), budget);
    vec_free(collector.sums_of, collector.sums_of_capacity, sizeof(*collector.sums_of), budget);
    vec_free(collector.range, collector.range_capacity, sizeof(*collector.range), budget);
    vec_free(collector.items, collector.items_capacity, sizeof(*collector.items), budget);
    profile_release(&profile);
    return ok;
}
