/* The rows of a snapshot from a profile. */
#include "decode/profiler/profiler.h"

#include <string.h>

#include "decode/json/reader.h"
#include "decode/profiler/chrome.h"
#include "decode/profiler/profile.h"

#define LOWEST_FREE_ADDRESS                                                                        \
    1 /* of the memory from before the profile; no allocation begins there */

struct emitter {
    const struct profile *profile;
    const struct row_sink *sink;
    uint32_t *by_device;  /* memory events by device, then time */
    uint32_t *by_address; /* the memory events of one device, ordered by address, then by time */
    struct block_row *blocks;
    size_t by_device_capacity, by_address_capacity, block_count, block_capacity;
    string_id segment_type;
    struct error *err;
};

/* What the events of a device show about the memory before and after them. */
struct device_state {
    uint32_t device;
    const uint32_t *events;
    size_t count;
    int64_t freed;        /* made before the profile, freed in it */
    int64_t surviving;    /* made in it and not freed */
    int64_t kept;         /* made before it and not freed: only their sum is known */
    int64_t reserved_end; /* -1 if not recorded */
};

static const struct profile_memory *memory_at(const struct emitter *emitter, uint32_t event)
{
    return &emitter->profile->memory[event];
}

static bool by_device(const void *self, uint32_t a, uint32_t b)
{
    const struct profile_memory *memory = self;
    return memory[a].device < memory[b].device;
}

static bool by_address(const void *self, uint32_t a, uint32_t b)
{
    const struct profile_memory *memory = self;
    if (memory[a].addr != memory[b].addr)
        return memory[a].addr < memory[b].addr;
    return a < b;
}

static bool add_block(struct emitter *emitter, uint64_t address, int64_t size,
                      enum block_state state, stack_id stack)
{
    if (size <= 0)
        return true;
    struct block_row row = {.address = address,
                            .size = (uint64_t)size,
                            .requested_size = state == BLOCK_INACTIVE ? 0 : (uint64_t)size,
                            .state = state,
                            .stack = stack};
    return vec_push(emitter->blocks, emitter->block_count, emitter->block_capacity,
                    emitter->profile->budget, emitter->err, row);
}

/* Finds what was made before the events and what is left after them. */
static bool find_survivors(struct emitter *emitter, struct device_state *state)
{
    const struct profile *profile = emitter->profile;
    if (!vec_reserve(emitter->by_address, emitter->by_address_capacity, state->count,
                     profile->budget, emitter->err))
        return false;
    memcpy(emitter->by_address, state->events, state->count * sizeof(*state->events));
    if (!profile_sort(emitter->by_address, state->count, by_address, profile->memory,
                      profile->budget, emitter->err))
        return false;
    for (size_t i = 0; i < state->count; i++) {
        const struct profile_memory *memory = memory_at(emitter, emitter->by_address[i]);
        const struct profile_memory *before =
            i > 0 ? memory_at(emitter, emitter->by_address[i - 1]) : NULL;
        const struct profile_memory *after =
            i + 1 < state->count ? memory_at(emitter, emitter->by_address[i + 1]) : NULL;
        if (memory->bytes < 0 && (!before || before->addr != memory->addr || before->bytes <= 0))
            profile_add(&state->freed, -memory->bytes);
        if (memory->bytes <= 0 || (after && after->addr == memory->addr))
            continue;
        profile_add(&state->surviving, memory->bytes);
        if (!add_block(emitter, memory->addr, memory->bytes, BLOCK_ACTIVE_ALLOCATED, memory->stack))
            return false;
    }
    return true;
}

/* Finds the memory that was allocated before the first event and is never freed. Only its total is
 * known. */
static void find_kept(const struct emitter *emitter, struct device_state *state)
{
    state->reserved_end = -1;
    for (size_t i = state->count; i-- > 0;) {
        const struct profile_memory *memory = memory_at(emitter, state->events[i]);
        if (state->reserved_end < 0 && memory->reserved > 0)
            state->reserved_end = memory->reserved;
        state->kept = memory->total < 0 ? 0 : memory->total - memory->bytes - state->freed;
    }
    if (state->kept < 0)
        state->kept = 0;
    if (state->device == DEVICE_HOST)
        state->reserved_end = -1;
}

static bool emit_change(const struct emitter *emitter, const struct device_state *state,
                        const struct profile_memory *memory, int64_t *reserved)
{
    struct event_row row = {.time_us = (emitter->profile->base_ns + memory->time_ns) / 1000,
                            .stack = memory->stack};
    int64_t change = memory->reserved - *reserved;
    row.extra.forward_stack = memory->forward_stack;
    row.extra.operation = memory->operation;
    if (state->reserved_end >= 0 && memory->reserved >= 0 && *reserved >= 0 && change != 0) {
        struct event_row segment = row;
        segment.action = change > 0 ? ACTION_SEGMENT_ALLOC : ACTION_SEGMENT_FREE;
        segment.size = (uint64_t)(change > 0 ? change : -change);
        if (!emitter->sink->event(emitter->sink->self, state->device, &segment, emitter->err))
            return false;
    }
    if (memory->reserved >= 0)
        *reserved = memory->reserved;
    row.addr = memory->addr;
    row.size = (uint64_t)(memory->bytes < 0 ? -memory->bytes : memory->bytes);
    row.action = memory->bytes < 0 ? ACTION_FREE_COMPLETED : ACTION_ALLOC;
    return row.size == 0 ||
           emitter->sink->event(emitter->sink->self, state->device, &row, emitter->err);
}

/* The allocator's segments are not in the file: one stands for all of them. */
static bool emit_segment(struct emitter *emitter, const struct device_state *state)
{
    int64_t active = state->surviving;
    profile_add(&active, state->kept);
    if (!add_block(emitter, LOWEST_FREE_ADDRESS, state->kept, BLOCK_ACTIVE_ALLOCATED, STACK_NONE) ||
        !add_block(emitter, LOWEST_FREE_ADDRESS + 1, state->reserved_end - active, BLOCK_INACTIVE,
                   STACK_NONE))
        return false;
    struct segment_row row = {.device = state->device,
                              .segment_type = emitter->segment_type,
                              .blocks = emitter->blocks,
                              .block_count = emitter->block_count};
    row.total_size = (uint64_t)(state->reserved_end > active ? state->reserved_end : active);
    row.allocated_size = row.active_size = row.requested_size = (uint64_t)active;
    return row.total_size == 0 || emitter->sink->segment(emitter->sink->self, &row, emitter->err);
}

static bool emit_device(struct emitter *emitter, struct device_state *state)
{
    int64_t reserved = -1;
    emitter->block_count = 0;
    if (!find_survivors(emitter, state))
        return false;
    find_kept(emitter, state);
    if (!emitter->sink->trace(emitter->sink->self, state->device, emitter->err))
        return false;
    for (size_t i = 0; i < state->count; i++)
        if (!emit_change(emitter, state, memory_at(emitter, state->events[i]), &reserved))
            return false;
    return emit_segment(emitter, state);
}

static bool emit_devices(struct emitter *emitter)
{
    const struct profile *profile = emitter->profile;
    size_t count = profile->memory_count;
    for (size_t i = 0; i < count; i++)
        emitter->by_device[i] = (uint32_t)i;
    if (!profile_sort(emitter->by_device, count, by_device, profile->memory, profile->budget,
                      emitter->err))
        return false;
    for (size_t from = 0, to; from < count; from = to) {
        struct device_state state = {.device = memory_at(emitter, emitter->by_device[from])->device,
                                     .events = emitter->by_device + from};
        for (to = from; to < count; to++)
            if (memory_at(emitter, emitter->by_device[to])->device != state.device)
                break;
        state.count = to - from;
        if (!emit_device(emitter, &state))
            return false;
    }
    return true;
}

/* An item of the list of annotations' beginnings and ends: twice the range, plus 1 for the end. */
static int64_t edge_time(const struct profile *profile, uint32_t edge)
{
    const struct profile_range *range = &profile->annotations[edge / 2];
    return edge % 2 ? range_end(range) : range->start_ns;
}

static bool edge_before(const void *self, uint32_t a, uint32_t b)
{
    return edge_time(self, a) < edge_time(self, b);
}

static bool emit_edge(const struct emitter *emitter, uint32_t edge, uint32_t device)
{
    const struct profile *profile = emitter->profile;
    struct annotation_row row = {.stage = edge % 2 ? ANNOTATION_END : ANNOTATION_START,
                                 .name = profile->annotations[edge / 2].label.name,
                                 .device = device,
                                 .time_us = (profile->base_ns + edge_time(profile, edge)) / 1000};
    return emitter->sink->annotation(emitter->sink->self, &row, emitter->err);
}

/* Annotations belong to no device: they are given to the first one, and to the CPU. */
static bool emit_annotations(const struct emitter *emitter)
{
    const struct profile *profile = emitter->profile;
    uint32_t *edges = NULL;
    size_t count = 0, capacity = 0, most = profile->annotation_count;
    uint32_t first = memory_at(emitter, emitter->by_device[0])->device;
    uint32_t last = memory_at(emitter, emitter->by_device[profile->memory_count - 1])->device;
    bool ok = true;
    for (size_t i = 0; ok && i < most && i <= UINT32_MAX / 2; i++)
        ok = vec_push(edges, count, capacity, profile->budget, emitter->err, (uint32_t)(2 * i)) &&
             vec_push(edges, count, capacity, profile->budget, emitter->err, (uint32_t)(2 * i + 1));
    ok = ok && profile_sort(edges, count, edge_before, profile, profile->budget, emitter->err);
    for (size_t i = 0; ok && i < count; i++)
        ok = emit_edge(emitter, edges[i], first) &&
             (last != DEVICE_HOST || first == last || emit_edge(emitter, edges[i], last));
    vec_free(edges, capacity, sizeof(*edges), profile->budget);
    return ok;
}

static bool emit(const struct profile *profile, const struct row_sink *sink, struct error *err)
{
    struct emitter emitter = {.profile = profile, .sink = sink, .err = err};
    bool ok = vec_reserve(emitter.by_device, emitter.by_device_capacity, profile->memory_count,
                          profile->budget, err) &&
              symbols_string(profile->symbols, "large", 5, &emitter.segment_type, err) &&
              emit_devices(&emitter) && emit_annotations(&emitter);
    vec_free(emitter.by_device, emitter.by_device_capacity, sizeof(*emitter.by_device),
             profile->budget);
    vec_free(emitter.by_address, emitter.by_address_capacity, sizeof(*emitter.by_address),
             profile->budget);
    vec_free(emitter.blocks, emitter.block_capacity, sizeof(*emitter.blocks), profile->budget);
    return ok;
}

static void find_facts(struct profile *profile)
{
    profile->facts.has_reserved = false;
    for (size_t i = 0; i < profile->memory_count && !profile->facts.has_reserved; i++)
        profile->facts.has_reserved =
            profile->memory[i].device != DEVICE_HOST && profile->memory[i].reserved > 0;
}

/* Once the stacks are known, only launches need the ranges. */
static bool make_rows(struct profile *profile, const struct row_sink *sink, struct error *err)
{
    find_facts(profile);
    if (!profile_prepare(profile, err))
        return false;
    if (!sink->launch)
        ranges_release(&profile->ranges);
    return emit(profile, sink, err) && (!sink->launch || profile_emit_launches(profile, sink, err));
}

bool decode_profiler_snapshot(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err)
{
    struct profile profile;
    profile_init(&profile, symbols, source->budget);
    profile.wants_kernels = sink->launch != NULL;
    bool ok = chrome_read(&profile, source, err) && make_rows(&profile, sink, err);
    if (ok)
        *decoded =
            (struct decoded){.encoding = ENCODING_JSON, .protocol = -1, .profile = profile.facts};
    profile_release(&profile);
    return ok;
}
