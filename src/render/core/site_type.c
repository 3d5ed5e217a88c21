#include "render/core/site_type.h"
#include "model/device.h"

static struct value device(const void *row, const struct field_context *context)
{
    (void)row;
    return value_integer(device_number(((const struct site_context *)context->user)->device));
}

/* The frame of user code, in separate columns. */
static bool code_frame(const void *data, const struct field_context *context, struct frame *frame)
{
    const struct site_context *user = context->user;
    const struct site_row *row = data;
    frame_id id;
    if (!site_frame(user->sites, row->group.source.shown, &row->group.source.site, &id))
        return false;
    *frame = symbols_frame_at(context->symbols, id);
    return true;
}

static struct value file(const void *row, const struct field_context *context)
{
    struct frame frame;
    return value_id(code_frame(row, context, &frame) ? frame.file : 0);
}

static struct value line(const void *row, const struct field_context *context)
{
    struct frame frame;
    return value_id(code_frame(row, context, &frame) ? frame.line : 0);
}

static struct value function(const void *row, const struct field_context *context)
{
    struct frame frame;
    return value_id(code_frame(row, context, &frame) ? frame.name : 0);
}

#define ROW struct site_row
/* `cell` numbers order the columns of the exported table, `column` those of text. */
const struct row_type site_type = ROW_TYPE(
    "sites", ROW, FIELD_CALL(NUMBER, "device", device, .flags = FIELD_NOT_JSON),
    FIELD_AS(ROW, BYTES, "bytes", group.bytes, .title = "size", .cell = 1),
    FIELD_AS(ROW, SHARE, NULL, group.bytes, .title = "share", .optional = 2),
    FIELD_AS(ROW, COUNT, "count", group.count, .title = "count", .optional = 1, .cell = 2),
    FIELD_AS(ROW, CATEGORY, "category", group.category, UNLESS(ROW, is_remainder),
             .title = "category", .column = 2, .cell = 4),
    FIELD(ROW, SITE, label, .title = "call site", .cut = CUT_SITE, .least = CALL_SITE_LEAST,
          .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, SITE, "site", label, .flags = FIELD_NOT_JSON, .cell = 5),
    FIELD_AS(ROW, FLAG, "remainder", is_remainder, .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD),
    FIELD_AS(ROW, OPERATOR, "op", group.source.site, .title = "operator", .column = 1,
             .optional = 3, .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, OPERATOR, "operator", group.source.site, .flags = FIELD_NOT_JSON, .cell = 6),
    FIELD_AS(ROW, COUNT, "stacks", group.stacks, UNLESS(ROW, is_remainder), .cell = 3),
    FIELD_AS(ROW, FRAMES, "frames", group.source.shown, UNLESS(ROW, is_remainder),
             .flags = FIELD_NOT_RECORD),
    FIELD_CALL(STRING, "file", file, .flags = FIELD_NOT_JSON, .cell = 7),
    FIELD_CALL(NUMBER, "line", line, .flags = FIELD_NOT_JSON, .cell = 8),
    FIELD_CALL(STRING, "function", function, .flags = FIELD_NOT_JSON, .cell = 9),
    FIELD_AS(ROW, STACK, "stack", group.source.shown, .flags = FIELD_NOT_JSON, .cell = 10));
