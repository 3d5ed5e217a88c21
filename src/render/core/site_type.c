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

/* As text, since columns of text are left out where no row has any. */
static struct value time_text(const struct field_context *context, bool is_joined, int64_t time_us)
{
    char text[UNITS_TEXT_SIZE];
    if (is_joined && time_us >= 0)
        buffer_puts(context->scratch, units_duration(text, time_us) + 1); /* without the sign */
    return value_scratch(context);
}

static struct value kernel_time(const void *row, const struct field_context *context)
{
    const struct site_joint *joint = &((const struct site_row *)row)->joint;
    return time_text(context, joint->is_joined, joint->kernel_us);
}

static struct value host_time(const void *row, const struct field_context *context)
{
    const struct site_joint *joint = &((const struct site_row *)row)->joint;
    return time_text(context, joint->is_joined, joint->host_us);
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
    FIELD_AS(ROW, STRING, "module", joint.module, IF(ROW, joint.is_joined), .title = "module",
             .least = 14, .cut = CUT_MIDDLE, .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, COUNT, "joined", joint.matched, IF(ROW, joint.is_joined),
             .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, COUNT, "kernels", joint.kernels, IF(ROW, joint.is_joined),
             .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, DURATION, "kernel_us", joint.kernel_us, IF(ROW, joint.is_joined),
             .flags = FIELD_SKIP_NEGATIVE | FIELD_NOT_RECORD),
    FIELD_AS(ROW, DURATION, "operator_us", joint.host_us, IF(ROW, joint.is_joined),
             .flags = FIELD_SKIP_NEGATIVE | FIELD_NOT_RECORD),
    FIELD_CALL(LABEL, NULL, kernel_time, .title = "kernels"),
    FIELD_CALL(LABEL, NULL, host_time, .title = "CPU time"),
    FIELD_AS(ROW, COUNT, "stacks", group.stacks, UNLESS(ROW, is_remainder), .cell = 3),
    FIELD_AS(ROW, FRAMES, "frames", group.source.shown, UNLESS(ROW, is_remainder),
             .flags = FIELD_NOT_RECORD),
    FIELD_CALL(STRING, "file", file, .flags = FIELD_NOT_JSON, .cell = 7),
    FIELD_CALL(NUMBER, "line", line, .flags = FIELD_NOT_JSON, .cell = 8),
    FIELD_CALL(STRING, "function", function, .flags = FIELD_NOT_JSON, .cell = 9),
    FIELD_AS(ROW, STACK, "stack", group.source.shown, .flags = FIELD_NOT_JSON, .cell = 10));
