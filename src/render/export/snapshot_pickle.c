#include "render/export/snapshot_pickle.h"

#include <stdlib.h>

#include "model/device.h"
#include "render/export/pickler.h"
#include "render/export/snapshot_settings.h"

struct dump {
    struct pickler pickle;
    const struct snapshot *snapshot;
    const struct excerpt *excerpts;
    size_t count;
    string_id small, large; /* the names of the two segment types */
    bool has_pools;         /* some event has a pool that is not the default one */
    struct pickler_list segments;
};

static bool put_stack(struct pickler *pickle, enum pickler_word key, stack_id stack,
                      struct error *err)
{
    if (stack == STACK_NONE)
        return true;
    pickler_word(pickle, key);
    return pickler_stack(pickle, stack, err);
}

static bool put_string(struct pickler *pickle, enum pickler_word key, string_id string,
                       struct error *err)
{
    if (string == STRING_EMPTY)
        return true;
    pickler_word(pickle, key);
    return pickler_string(pickle, string, err);
}

static void put_count(struct pickler *pickle, enum pickler_word key, uint64_t value)
{
    pickler_word(pickle, key);
    pickler_count(pickle, value);
}

static void put_device(struct pickler *pickle, uint32_t device)
{
    pickler_word(pickle, WORD_DEVICE);
    pickler_integer(pickle, device_number(device));
}

static bool put_block(struct pickler *pickle, const struct block_row *block, struct error *err)
{
    static const enum pickler_word states[] = {
        [BLOCK_ACTIVE_ALLOCATED] = WORD_ACTIVE_ALLOCATED,
        [BLOCK_ACTIVE_PENDING_FREE] = WORD_ACTIVE_PENDING_FREE,
        [BLOCK_INACTIVE] = WORD_INACTIVE,
    };
    pickler_dict_begin(pickle);
    put_count(pickle, WORD_ADDRESS, block->address);
    put_count(pickle, WORD_SIZE, block->size);
    put_count(pickle, WORD_REQUESTED_SIZE, block->requested_size);
    pickler_word(pickle, WORD_STATE);
    pickler_word(pickle, states[block->state]);
    /* torch's viewers expect them in every block */
    pickler_word(pickle, WORD_FRAMES);
    bool ok = pickler_stack(pickle, block->stack, err) &&
              put_stack(pickle, WORD_FORWARD_FRAMES, block->forward_stack, err);
    pickler_dict_end(pickle);
    return ok;
}

static bool put_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct dump *dump = self;
    struct pickler *pickle = &dump->pickle;
    struct pickler_list blocks;
    pickler_item(pickle, &dump->segments);
    pickler_dict_begin(pickle);
    put_device(pickle, row->device);
    put_count(pickle, WORD_ADDRESS, row->address);
    put_count(pickle, WORD_TOTAL_SIZE, row->total_size);
    put_count(pickle, WORD_ALLOCATED_SIZE, row->allocated_size);
    put_count(pickle, WORD_ACTIVE_SIZE, row->active_size);
    put_count(pickle, WORD_REQUESTED_SIZE, row->requested_size);
    pickler_word(pickle, WORD_STREAM);
    pickler_integer(pickle, row->stream);
    pickler_word(pickle, WORD_SEGMENT_TYPE);
    if (!pickler_string(pickle, row->segment_type, err))
        return false;
    pickler_word(pickle, WORD_SEGMENT_POOL_ID);
    pickler_pair(pickle, row->pool);
    pickler_word(pickle, WORD_IS_EXPANDABLE);
    pickler_flag(pickle, row->is_expandable);
    pickler_word(pickle, WORD_FRAMES);
    if (!pickler_stack(pickle, row->stack, err) ||
        !put_stack(pickle, WORD_FORWARD_FRAMES, row->forward_stack, err))
        return false;
    pickler_word(pickle, WORD_BLOCKS);
    pickler_list_begin(pickle, &blocks);
    for (size_t i = 0; i < row->block_count; i++) {
        pickler_item(pickle, &blocks);
        if (!put_block(pickle, &row->blocks[i], err))
            return false;
    }
    pickler_list_end(pickle, &blocks);
    pickler_dict_end(pickle);
    return pickler_is_well(pickle, err);
}

/* The segments of all devices but the host, or of the host. */
static bool put_segments(struct dump *dump, bool of_host, struct snapshot_doubts *doubts,
                         struct error *err)
{
    const struct excerpt_visitor visitor = {dump, put_segment};
    pickler_word(&dump->pickle, of_host ? WORD_HOST_SEGMENTS : WORD_SEGMENTS);
    pickler_list_begin(&dump->pickle, &dump->segments);
    for (size_t i = 0; i < dump->count; i++) {
        struct excerpt_doubts of_device;
        if ((dump->excerpts[i].timeline->device == DEVICE_HOST) != of_host)
            continue;
        if (!excerpt_segments(&dump->excerpts[i], dump->small, dump->large, &visitor, &of_device,
                              err))
            return false;
        doubts->stray_blocks += of_device.stray_blocks;
        doubts->lost_blocks += of_device.lost_blocks;
        doubts->lost_bytes += of_device.lost_bytes;
        if (llabs(of_device.reserved_gap) > llabs(doubts->reserved_gap))
            doubts->reserved_gap = of_device.reserved_gap;
    }
    pickler_list_end(&dump->pickle, &dump->segments);
    return true;
}

static bool put_extra(struct dump *dump, const struct event_extra *extra, struct error *err)
{
    struct pickler *pickle = &dump->pickle;
    if (dump->has_pools) {
        pickler_word(pickle, WORD_POOL_ID);
        pickler_pair(pickle, extra->pool);
    }
    return put_string(pickle, WORD_COMPILE_CONTEXT, extra->compile_context, err) &&
           put_string(pickle, WORD_USER_METADATA, extra->user_metadata, err) &&
           put_string(pickle, WORD_INTERNAL_METADATA, extra->internal_metadata, err) &&
           put_string(pickle, WORD_CATEGORY, extra->category, err) &&
           put_stack(pickle, WORD_FORWARD_FRAMES, extra->forward_stack, err);
}

/* With `time_us` in place of the recorded time. TIME_NONE: without one. */
static bool put_event(struct dump *dump, const struct trace *trace, size_t item, int64_t time_us,
                      struct error *err)
{
    struct pickler *pickle = &dump->pickle;
    const struct event_extra *extra = &dump->snapshot->extras[trace_extra(trace, item)];
    uint8_t action = trace->action[item];
    pickler_dict_begin(pickle);
    pickler_word(pickle, WORD_ACTION);
    if (!pickler_string(pickle, dump->snapshot->action_names[action], err))
        return false;
    put_count(pickle, action == ACTION_OOM ? WORD_DEVICE_FREE : WORD_ADDR, trace_addr(trace, item));
    put_count(pickle, WORD_SIZE, trace_size(trace, item));
    pickler_word(pickle, WORD_STREAM);
    pickler_integer(pickle, extra->stream);
    if (time_us != TIME_NONE) {
        pickler_word(pickle, WORD_TIME_US);
        pickler_integer(pickle, time_us);
    }
    bool ok =
        put_extra(dump, extra, err) && put_stack(pickle, WORD_FRAMES, trace->stack[item], err);
    pickler_dict_end(pickle);
    return ok && pickler_is_well(pickle, err);
}

/* The annotate events from before the range, with the time at which the range begins: offsets from
 * the first event stay those of the range. */
static bool put_notes(struct dump *dump, struct pickler_list *events, const struct excerpt *excerpt,
                      struct error *err)
{
    const struct trace *trace = excerpt->timeline->trace;
    int64_t time_us = excerpt->first < excerpt->end ? trace_time(trace, excerpt->first) : TIME_NONE;
    uint32_t *items;
    size_t count;
    if (!excerpt_notes(excerpt, &items, &count, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        pickler_item(&dump->pickle, events);
        ok = put_event(dump, trace, items[i], time_us, err);
    }
    free(items);
    return ok;
}

static bool put_trace(struct dump *dump, const struct excerpt *excerpt, struct error *err)
{
    struct pickler_list events;
    pickler_list_begin(&dump->pickle, &events);
    if (excerpt->first > 0 && !put_notes(dump, &events, excerpt, err))
        return false;
    for (size_t i = excerpt->first; i < excerpt->end; i++) {
        const struct trace *trace = excerpt->timeline->trace;
        pickler_item(&dump->pickle, &events);
        if (!put_event(dump, trace, i, trace_time(trace, i), err))
            return false;
    }
    pickler_list_end(&dump->pickle, &events);
    return true;
}

static bool put_traces(struct dump *dump, struct error *err)
{
    static const struct excerpt none;
    struct pickler_list traces;
    size_t next = 0;
    pickler_word(&dump->pickle, WORD_DEVICE_TRACES);
    pickler_list_begin(&dump->pickle, &traces);
    for (size_t device = 0; device < dump->snapshot->trace_count; device++) {
        while (next < dump->count && dump->excerpts[next].timeline->device < device)
            next++;
        bool found = next < dump->count && dump->excerpts[next].timeline->device == device;
        pickler_item(&dump->pickle, &traces);
        if (!put_trace(dump, found ? &dump->excerpts[next] : &none, err))
            return false;
    }
    pickler_list_end(&dump->pickle, &traces);
    return true;
}

static bool put_annotations(struct dump *dump, struct error *err)
{
    struct pickler *pickle = &dump->pickle;
    struct pickler_list list;
    pickler_word(pickle, WORD_EXTERNAL_ANNOTATIONS);
    pickler_list_begin(pickle, &list);
    for (size_t i = 0; i < dump->snapshot->annotation_count; i++) {
        const struct annotation_row *row = &dump->snapshot->annotations[i];
        pickler_item(pickle, &list);
        pickler_dict_begin(pickle);
        pickler_word(pickle, WORD_STAGE);
        pickler_word(pickle, row->stage == ANNOTATION_START ? WORD_START : WORD_END);
        pickler_word(pickle, WORD_NAME);
        if (!pickler_string(pickle, row->name, err))
            return false;
        put_device(pickle, row->device);
        pickler_word(pickle, WORD_TIME_US);
        pickler_integer(pickle, row->time_us);
        pickler_dict_end(pickle);
    }
    pickler_list_end(pickle, &list);
    return true;
}

/* The host is the last device. Without it, as in most files, nothing is written. */
static bool put_host(struct dump *dump, struct snapshot_doubts *doubts, struct error *err)
{
    const struct excerpt *last = dump->count > 0 ? &dump->excerpts[dump->count - 1] : NULL;
    if (!last || last->timeline->device != DEVICE_HOST)
        return true;
    if (!put_segments(dump, true, doubts, err))
        return false;
    pickler_word(&dump->pickle, WORD_HOST_TRACES);
    return put_trace(dump, last, err);
}

static bool put_all(struct dump *dump, struct snapshot_doubts *doubts, struct error *err)
{
    pickler_dict_begin(&dump->pickle);
    if (!put_segments(dump, false, doubts, err) || !put_traces(dump, err))
        return false;
    if (dump->snapshot->setting_count > 0) {
        pickler_word(&dump->pickle, WORD_ALLOCATOR_SETTINGS);
        if (!snapshot_settings_pickle(&dump->pickle, dump->snapshot, err))
            return false;
    }
    if (!put_annotations(dump, err) || !put_host(dump, doubts, err))
        return false;
    pickler_dict_end(&dump->pickle);
    return pickler_end(&dump->pickle, err);
}

bool snapshot_pickle(FILE *out, struct snapshot *snapshot, const struct excerpt *excerpts,
                     size_t count, struct snapshot_doubts *doubts, struct error *err)
{
    struct dump dump = {.snapshot = snapshot, .excerpts = excerpts, .count = count};
    struct snapshot_doubts found = {0};
    for (size_t i = 0; i < snapshot->extra_count; i++)
        dump.has_pools =
            dump.has_pools || snapshot->extras[i].pool[0] || snapshot->extras[i].pool[1];
    if (!symbols_string(snapshot->symbols, "small", 5, &dump.small, err) ||
        !symbols_string(snapshot->symbols, "large", 5, &dump.large, err) ||
        !pickler_begin(&dump.pickle, out, snapshot->symbols, snapshot->budget, err))
        return false;
    bool ok = put_all(&dump, &found, err);
    pickler_release(&dump.pickle);
    if (ok)
        *doubts = found;
    return ok;
}
