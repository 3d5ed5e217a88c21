#include "model/device.h"
#include "render/export/internal.h"

/* An event as stored in the file, with its number on its device. */
struct event_line {
    int64_t device;           /* device_number() */
    uint64_t position, event; /* position: in the trace as it is replayed */
    struct event_row row;
};

/* `addr` of an event that ran out of memory is the free memory of the device. */
static bool put_address(struct record_writer *records, const void *data,
                        const struct field_context *context, struct error *err)
{
    const struct event_row *row = &((const struct event_line *)data)->row;
    (void)context, (void)err;
    if (row->action == ACTION_OOM)
        record_none(records);
    else
        record_count(records, row->addr);
    return true;
}

static bool put_device_free(struct record_writer *records, const void *data,
                            const struct field_context *context, struct error *err)
{
    const struct event_row *row = &((const struct event_line *)data)->row;
    (void)context, (void)err;
    if (row->action == ACTION_OOM)
        record_count(records, row->addr);
    else
        record_none(records);
    return true;
}

static bool put_action(struct record_writer *records, const void *data,
                       const struct field_context *context, struct error *err)
{
    const struct event_row *row = &((const struct event_line *)data)->row;
    if (row->action >= ACTION_OTHER)
        return record_string(records, context, row->action_name, err);
    record_word(records, action_texts[row->action].bytes);
    return true;
}

static bool put_label(struct record_writer *records, const void *data,
                      const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_label(records, ((const struct event_line *)data)->row.stack, err);
}

static bool put_operator(struct record_writer *records, const void *data,
                         const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_operator(records, ((const struct event_line *)data)->row.stack, err);
}

#define ROW struct event_line
const struct row_type export_event_type = ROW_TYPE(
    "events", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, NUMBER, event),
    FIELD(ROW, NUMBER, position, .flags = FIELD_ONLY_DATABASE), FIELD_RECORD("action", put_action),
    FIELD_RECORD("address", put_address), FIELD_AS(ROW, BYTES, "size", row.size),
    FIELD_RECORD("device_free", put_device_free), FIELD_AS(ROW, TIME, "time_us", row.time_us),
    FIELD_AS(ROW, NUMBER, "stream", row.extra.stream),
    FIELD_AS(ROW, NUMBER, "pool_id_0", row.extra.pool[0]),
    FIELD_AS(ROW, NUMBER, "pool_id_1", row.extra.pool[1]), FIELD_RECORD_ONCE("site", put_label),
    FIELD_RECORD_ONCE("operator", put_operator), FIELD_AS(ROW, STACK, "stack", row.stack),
    FIELD_AS(ROW, STACK, "forward_stack", row.extra.forward_stack),
    FIELD_AS(ROW, STRING, "category", row.extra.category),
    FIELD_AS(ROW, STRING, "compile_context", row.extra.compile_context),
    FIELD_AS(ROW, STRING, "user_metadata", row.extra.user_metadata),
    FIELD_AS(ROW, STRING, "internal_metadata", row.extra.internal_metadata));
#undef ROW

bool export_event(struct export_sheet *sheet, uint32_t device, uint64_t position, uint64_t event,
                  const struct event_row *row, struct error *err)
{
    const struct event_line line = {device_number(device), position, event, *row};
    return export_row(sheet, &line, err);
}

static const char *stage_name(unsigned stage)
{
    return stage == ANNOTATION_START ? "START" : "END";
}

#define ROW struct annotation_row
const struct row_type export_annotation_type = ROW_TYPE(
    "annotations", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, NAME, stage, .name = stage_name),
    FIELD(ROW, STRING, name), FIELD(ROW, TIME, time_us));
#undef ROW

bool export_annotation(struct export_sheet *sheet, const struct annotation_row *row,
                       struct error *err)
{
    return export_row(sheet, row, err);
}

/* A frame of a stack. */
struct frame_line {
    stack_id stack;
    size_t depth; /* 0: the innermost */
    struct frame frame;
    enum frame_kind kind;
};

const char *export_frame_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [FRAME_USER] = "user", [FRAME_LIBRARY] = "library", [FRAME_NATIVE] = "native"};
    return names[kind];
}

#define ROW struct frame_line
const struct row_type export_frame_type = ROW_TYPE(
    "stacks", ROW, FIELD(ROW, STACK, stack), FIELD(ROW, NUMBER, depth),
    FIELD_AS(ROW, STRING, "function", frame.name), FIELD_AS(ROW, STRING, "file", frame.file),
    FIELD_AS(ROW, NUMBER, "line", frame.line, .flags = FIELD_SKIP_ZERO),
    FIELD(ROW, NAME, kind, .name = export_frame_kind_name));
#undef ROW

bool export_stacks(struct export_sheet *sheet, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sheet->sites);
    size_t count = symbols_stack_count(symbols);
    for (size_t s = 1; s < count; s++) {
        struct stack stack = symbols_stack_at(symbols, (stack_id)s);
        for (size_t i = 0; i < stack.count; i++) {
            frame_id id = stack.frames[i];
            const struct frame_line line = {(stack_id)s, i, symbols_frame_at(symbols, id),
                                            site_frame_kind(sheet->sites, id)};
            if (!export_row(sheet, &line, err))
                return false;
        }
    }
    return true;
}
