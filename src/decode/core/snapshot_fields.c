#include "decode/core/snapshot_fields.h"

#include "base/traceback.h"

static const struct field parts[PART_COUNT] = {
    [PART_SEGMENTS] = OTHER_FIELD("a list", "segments", false),
    [PART_TRACES] = OTHER_FIELD("a list", "device_traces", false),
    [PART_SETTINGS] = OTHER_FIELD("a dict", "allocator_settings", false),
    [PART_ANNOTATIONS] = OTHER_FIELD("a list", "external_annotations", false),
    [PART_HOST_SEGMENTS] = OTHER_FIELD("a list", "host_segments", false),
    [PART_HOST_TRACE] = OTHER_FIELD("a list", "host_traces", false),
};

static const struct field event_fields[EVENT_FIELDS] = {
    [EVENT_ACTION] = OTHER_FIELD("a string", "action", true),
    [EVENT_ADDR] = FIELD(ADDRESS, event_draft, row.addr, "addr"),
    [EVENT_SIZE] = FIELD(NATURAL, event_draft, row.size, "size"),
    [EVENT_STREAM] = FIELD(HANDLE, event_draft, row.extra.stream, "stream"),
    [EVENT_TIME_US] = FIELD(TIME, event_draft, row.time_us, "time_us"),
    [EVENT_COMPILE_CONTEXT] =
        FIELD(ANY_TEXT, event_draft, row.extra.compile_context, "compile_context"),
    [EVENT_USER_METADATA] = FIELD(ANY_TEXT, event_draft, row.extra.user_metadata, "user_metadata"),
    [EVENT_INTERNAL_METADATA] =
        FIELD(ANY_TEXT, event_draft, row.extra.internal_metadata, "internal_metadata"),
    [EVENT_FRAMES] = FIELD(STACK, event_draft, row.stack, "frames"),
    [EVENT_POOL_ID] = FIELD(POOL, event_draft, row.extra.pool, "pool_id"),
    [EVENT_FORWARD_FRAMES] = FIELD(STACK, event_draft, row.extra.forward_stack, "forward_frames"),
    [EVENT_CATEGORY] = FIELD(LOOSE_STRING, event_draft, row.extra.category, "category"),
    [EVENT_DEVICE_FREE] = FIELD(NATURAL, event_draft, device_free, "device_free"),
};

static const struct field segment_fields[SEGMENT_FIELDS] = {
    [SEGMENT_DEVICE] = REQUIRED_FIELD(DEVICE, segment_row, device, "device"),
    [SEGMENT_ADDRESS] = REQUIRED_FIELD(ADDRESS, segment_row, address, "address"),
    [SEGMENT_TOTAL_SIZE] = REQUIRED_FIELD(NATURAL, segment_row, total_size, "total_size"),
    [SEGMENT_ALLOCATED_SIZE] = FIELD(NATURAL, segment_row, allocated_size, "allocated_size"),
    [SEGMENT_ACTIVE_SIZE] = FIELD(NATURAL, segment_row, active_size, "active_size"),
    [SEGMENT_REQUESTED_SIZE] = FIELD(NATURAL, segment_row, requested_size, "requested_size"),
    [SEGMENT_STREAM] = FIELD(HANDLE, segment_row, stream, "stream"),
    [SEGMENT_TYPE] = FIELD(LOOSE_STRING, segment_row, segment_type, "segment_type"),
    [SEGMENT_POOL_ID] = FIELD(POOL, segment_row, pool, "segment_pool_id"),
    [SEGMENT_IS_EXPANDABLE] = FIELD(LOOSE_BOOL, segment_row, is_expandable, "is_expandable"),
    [SEGMENT_FRAMES] = FIELD(STACK, segment_row, stack, "frames"),
    [SEGMENT_FORWARD_FRAMES] = FIELD(STACK, segment_row, forward_stack, "forward_frames"),
    [SEGMENT_BLOCKS] = OTHER_FIELD("a list", "blocks", true),
};

static const struct field block_fields[BLOCK_FIELDS] = {
    [BLOCK_ADDRESS] = FIELD(ADDRESS, block_draft, row.address, "address"),
    [BLOCK_SIZE] = REQUIRED_FIELD(NATURAL, block_draft, row.size, "size"),
    [BLOCK_REQUESTED_SIZE] = FIELD(NATURAL, block_draft, row.requested_size, "requested_size"),
    [BLOCK_STATE] = OTHER_FIELD("a string", "state", true),
    [BLOCK_FRAMES] = FIELD(STACK, block_draft, row.stack, "frames"),
    [BLOCK_FORWARD_FRAMES] = FIELD(STACK, block_draft, row.forward_stack, "forward_frames"),
    [BLOCK_HISTORY] = OTHER_FIELD("a list of dicts", "history", false),
};

static const struct field history_fields[HISTORY_FIELDS] = {
    [HISTORY_REAL_SIZE] = FIELD(NATURAL, block_history, real_size, "real_size"),
    [HISTORY_FRAMES] = FIELD(STACK, block_history, stack, "frames"),
};

static const struct field annotation_fields[ANNOTATION_FIELDS] = {
    [ANNOTATION_FIELD_STAGE] = OTHER_FIELD("START or END", "stage", true),
    [ANNOTATION_FIELD_NAME] = FIELD(LOOSE_STRING, annotation_row, name, "name"),
    [ANNOTATION_FIELD_DEVICE] = FIELD(DEVICE, annotation_row, device, "device"),
    [ANNOTATION_FIELD_TIME_US] = FIELD(TIME, annotation_row, time_us, "time_us"),
};

static const struct field frame_fields[FRAME_FIELDS] = {
    [FRAME_NAME] = FIELD(LOOSE_STRING, frame_draft, frame.name, "name"),
    [FRAME_FILENAME] = FIELD(LOOSE_STRING, frame_draft, frame.file, "filename"),
    [FRAME_LINE] = FIELD(LOOSE_LINE, frame_draft, frame.line, "line"),
    [FRAME_FX_OP] = FIELD(LOOSE_STRING, frame_draft, detail.fx_op, "fx_node_op"),
    [FRAME_FX_NAME] = FIELD(LOOSE_STRING, frame_draft, detail.fx_name, "fx_node_name"),
    [FRAME_FX_TARGET] = FIELD(LOOSE_STRING, frame_draft, detail.fx_target, "fx_node_target"),
    [FRAME_FX_TRACE] = FIELD(LOOSE_STRING, frame_draft, detail.fx_trace, "fx_original_trace"),
};

#define ROW(article, noun, fields, count, tells)                                                   \
    {                                                                                              \
        noun, article " " noun, article " " noun " (a dict)", article " " noun " (an object)",     \
            fields, count, tells                                                                   \
    }

const struct row_fields snapshot_rows[ROW_KINDS] = {
    [ROW_SNAPSHOT] = ROW("a", "snapshot", parts, PART_COUNT, true),
    [ROW_EVENT] = ROW("an", "event", event_fields, EVENT_FIELDS, true),
    [ROW_SEGMENT] = ROW("a", "segment", segment_fields, SEGMENT_FIELDS, true),
    [ROW_BLOCK] = ROW("a", "block", block_fields, BLOCK_FIELDS, true),
    [ROW_HISTORY] = ROW("a", "block's history", history_fields, HISTORY_FIELDS, false),
    [ROW_ANNOTATION] = ROW("an", "annotation", annotation_fields, ANNOTATION_FIELDS, true),
    [ROW_FRAME] = ROW("a", "frame", frame_fields, FRAME_FIELDS, false),
};

#define NAMED  EVENT_SEEN(EVENT_ACTION)
#define SIZED  (NAMED | EVENT_SEEN(EVENT_SIZE))
#define PLACED (SIZED | EVENT_SEEN(EVENT_ADDR))

const uint32_t event_required[ACTION_OTHER + 1] = {
    [ACTION_ALLOC] = PLACED,          [ACTION_FREE_REQUESTED] = PLACED,
    [ACTION_FREE_COMPLETED] = PLACED, [ACTION_SEGMENT_ALLOC] = PLACED,
    [ACTION_SEGMENT_FREE] = PLACED,   [ACTION_SEGMENT_MAP] = PLACED,
    [ACTION_SEGMENT_UNMAP] = PLACED,  [ACTION_OOM] = SIZED,
    [ACTION_SNAPSHOT] = NAMED,        [ACTION_WORKSPACE_SNAPSHOT] = NAMED,
    [ACTION_OTHER] = NAMED,
};

bool event_refuse(const struct event_draft *event, uint64_t offset, struct error *err)
{
    return error_set_at(err, STATUS_BAD_INPUT, offset, "an event without '%s'",
                        event_fields[__builtin_ctz(event_missing(event))].name.bytes);
}

static bool text_is(struct text text, const char *word)
{
    return text_compare(text, (struct text){word, __builtin_strlen(word)}) == 0;
}

bool block_state_of(struct text name, enum block_state *state)
{
    if (text_is(name, "active_allocated"))
        *state = BLOCK_ACTIVE_ALLOCATED;
    else if (text_is(name, "active_pending_free") || text_is(name, "active_awaiting_free"))
        *state = BLOCK_ACTIVE_PENDING_FREE;
    else if (text_is(name, "inactive"))
        *state = BLOCK_INACTIVE;
    else
        return false;
    return true;
}

bool annotation_stage_of(struct text name, enum annotation_stage *stage)
{
    *stage = text_is(name, "START") ? ANNOTATION_START : ANNOTATION_END;
    return *stage == ANNOTATION_START || text_is(name, "END");
}

bool frame_finish(struct frame_draft *frame, struct symbols *symbols, frame_id *id,
                  struct error *err)
{
    frame_id original;
    bool found;
    /* interned now, so that the analysis finds it and no frames are added later */
    if (frame->detail.fx_trace != STRING_EMPTY &&
        !traceback_innermost(symbols, frame->detail.fx_trace, &original, &found, err))
        return false;
    return symbols_detail(symbols, &frame->detail, &frame->frame.detail, err) &&
           symbols_frame(symbols, frame->frame, id, err);
}

bool block_finish(struct block_draft *block, uint64_t offset, struct error *err)
{
    const struct block_history *history = &block->history;
    if (!fields_check(block_fields, BLOCK_FIELDS, block->seen, "a block", offset, err))
        return false;
    if ((block->seen >> BLOCK_REQUESTED_SIZE & 1) == 0)
        block->row.requested_size =
            history->seen >> HISTORY_REAL_SIZE & 1 ? history->real_size : block->row.size;
    if (block->row.stack == STACK_NONE)
        block->row.stack = history->stack;
    return true;
}

bool block_place(struct block_row *block, bool has_address, uint64_t *address, uint64_t offset,
                 struct error *err)
{
    if (!has_address)
        block->address = *address;
    if (__builtin_add_overflow(*address, block->size, address))
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "a segment with blocks beyond the last address");
    return true;
}
