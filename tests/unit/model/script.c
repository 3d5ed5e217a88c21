#include "unit/model/script.h"
#include "unit/unit.h"

#include <string.h>

void script_init(struct script *script)
{
    memset(script, 0, sizeof(*script));
    script->devices = 1;
}

struct event_row *script_event(struct script *script, enum action action, uint64_t addr,
                               uint64_t size)
{
    size_t i = script->event_count++;
    unit_assert(i < SCRIPT_EVENTS);
    script->events[i].device = script->device;
    script->events[i].row = (struct event_row){.action = action,
                                               .addr = addr,
                                               .size = size,
                                               .time_us = 1000 + 10 * (int64_t)i,
                                               .stack = (stack_id)i + 1};
    return &script->events[i].row;
}

void script_segment(struct script *script, uint64_t total_size)
{
    size_t i = script->segment_count++;
    unit_assert(i < SCRIPT_SEGMENTS);
    script->segments[i].row =
        (struct segment_row){.device = script->device, .total_size = total_size};
}

void script_block(struct script *script, uint64_t addr, uint64_t size, uint64_t requested,
                  enum block_state state)
{
    unit_assert(script->segment_count > 0);
    struct segment_row *segment = &script->segments[script->segment_count - 1].row;
    size_t i = segment->block_count++;
    unit_assert(i < SCRIPT_BLOCKS);
    script->segments[script->segment_count - 1].blocks[i] =
        (struct block_row){.address = addr,
                           .size = size,
                           .requested_size = requested,
                           .state = state,
                           .stack = 10000 + (stack_id)(script->segment_count * SCRIPT_BLOCKS + i)};
}

static bool push(const struct script *script, const struct row_sink *sink, struct error *err)
{
    for (uint32_t d = 0; d < script->devices; d++) {
        if (!sink->trace(sink->self, d, err))
            return false;
    }
    for (size_t i = 0; i < script->event_count; i++) {
        struct event_row row = script->events[i].row;
        if (!sink->event(sink->self, script->events[i].device, &row, err))
            return false;
    }
    for (size_t i = 0; i < script->segment_count; i++) {
        struct segment_row row = script->segments[i].row;
        row.blocks = script->segments[i].blocks;
        if (!sink->segment(sink->self, &row, err))
            return false;
    }
    return true;
}

struct snapshot *script_load(const struct script *script, const struct window *window,
                             size_t max_memory, struct error *err)
{
    struct load_options options = {.max_memory = max_memory};
    if (window)
        options.window = *window;
    struct loader *loader = loader_create(&options, err);
    if (!loader)
        return NULL;
    struct row_sink sink = loader_sink(loader);
    if (!push(script, &sink, err)) {
        loader_destroy(loader);
        return NULL;
    }
    return loader_finish(loader, err);
}

struct snapshot *script_must_load(const struct script *script, const struct window *window)
{
    struct error err;
    struct snapshot *snapshot = script_load(script, window, 0, &err);
    if (!snapshot)
        ck_abort_msg("the script was refused: %s", err.text);
    return snapshot;
}

struct timeline *script_timeline(const struct snapshot *snapshot, uint32_t device)
{
    struct error err;
    struct timeline *timeline = timeline_build(snapshot, device, &err);
    if (!timeline)
        ck_abort_msg("no timeline: %s", err.text);
    return timeline;
}
