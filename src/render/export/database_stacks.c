#include "render/export/database_rows.h"

/* A frame, with its number in the symbols. */
struct single_frame {
    frame_id number;
    struct frame frame;
    enum frame_kind kind;
};

#define ROW struct single_frame
const struct row_type export_single_frame_type = ROW_TYPE(
    "frames", ROW, FIELD_AS(ROW, NUMBER, "frame", number),
    FIELD_AS(ROW, STRING, "function", frame.name), FIELD_AS(ROW, STRING, "file", frame.file),
    FIELD_AS(ROW, NUMBER, "line", frame.line, .flags = FIELD_SKIP_ZERO),
    FIELD(ROW, NAME, kind, .name = export_frame_kind_name));
#undef ROW

bool export_frame_rows(struct export_sheet *sheet, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sheet->sites);
    size_t count = symbols_frame_count(symbols);
    for (size_t i = 0; i < count; i++) {
        const struct single_frame line = {(frame_id)i, symbols_frame_at(symbols, (frame_id)i),
                                          site_frame_kind(sheet->sites, (frame_id)i)};
        if (!export_row(sheet, &line, err))
            return false;
    }
    return true;
}

/* A stack, and the frame that names its call site. */
struct stack_line {
    stack_id stack;
    bool has_line;
    frame_id line;
};

static bool put_label(struct record_writer *records, const void *data,
                      const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_label(records, ((const struct stack_line *)data)->stack, err);
}

static bool put_operator(struct record_writer *records, const void *data,
                         const struct field_context *context, struct error *err)
{
    (void)context;
    return export_put_operator(records, ((const struct stack_line *)data)->stack, err);
}

#define ROW struct stack_line
const struct row_type export_stack_type =
    ROW_TYPE("stacks", ROW, FIELD(ROW, STACK, stack), FIELD_RECORD("site", put_label),
             FIELD_RECORD("operator", put_operator),
             FIELD_AS(ROW, NUMBER, "frame", line, IF(ROW, has_line)));
#undef ROW

bool export_stack_rows(struct export_sheet *sheet, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sheet->sites);
    size_t count = symbols_stack_count(symbols);
    for (size_t s = 1; s < count; s++) {
        struct stack_line line = {.stack = (stack_id)s};
        struct site site;
        if (!site_of(sheet->sites, line.stack, &site, err))
            return false;
        line.has_line = site_line(&site) != NO_FRAME;
        if (line.has_line)
            line.line = symbols_stack_at(symbols, line.stack).frames[site_line(&site)];
        if (!export_row(sheet, &line, err))
            return false;
    }
    return true;
}

struct stack_frame_line {
    stack_id stack;
    uint64_t depth; /* 0: the innermost */
    frame_id frame;
};

#define ROW struct stack_frame_line
const struct row_type export_stack_frame_type =
    ROW_TYPE("stack_frames", ROW, FIELD(ROW, STACK, stack), FIELD(ROW, NUMBER, depth),
             FIELD(ROW, NUMBER, frame));
#undef ROW

bool export_stack_frame_rows(struct export_sheet *sheet, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sheet->sites);
    size_t count = symbols_stack_count(symbols);
    for (size_t s = 1; s < count; s++) {
        struct stack stack = symbols_stack_at(symbols, (stack_id)s);
        for (size_t i = 0; i < stack.count; i++) {
            const struct stack_frame_line line = {(stack_id)s, i, stack.frames[i]};
            if (!export_row(sheet, &line, err))
                return false;
        }
    }
    return true;
}
