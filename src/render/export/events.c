#include "render/export/export.h"

bool export_event(struct export_sheet *sheet, uint32_t device, uint64_t event,
                  const struct event_row *row, struct error *err)
{
    struct record_writer *records = &sheet->records;
    const struct event_extra *extra = &row->extra;
    bool is_oom = row->action == ACTION_OOM;
    record_count(records, device);
    record_count(records, event);
    if (row->action < ACTION_OTHER)
        record_word(records, action_texts[row->action].bytes);
    else if (!export_string(sheet, row->action_name, err))
        return false;
    is_oom ? record_none(records) : record_count(records, row->addr);
    record_count(records, row->size);
    is_oom ? record_count(records, row->addr) : record_none(records);
    export_time(sheet, row->time_us);
    record_integer(records, extra->stream);
    record_count(records, extra->pool[0]);
    record_count(records, extra->pool[1]);
    if (!export_site(sheet, row->stack, err))
        return false;
    export_stack(sheet, row->stack);
    export_stack(sheet, extra->forward_stack);
    return export_string(sheet, extra->category, err) &&
           export_string(sheet, extra->compile_context, err) &&
           export_string(sheet, extra->user_metadata, err) && record_end(records, err);
}

bool export_annotation(struct export_sheet *sheet, const struct annotation_row *row,
                       struct error *err)
{
    struct record_writer *records = &sheet->records;
    record_count(records, row->device);
    record_word(records, row->stage == ANNOTATION_START ? "START" : "END");
    if (!export_string(sheet, row->name, err))
        return false;
    export_time(sheet, row->time_us);
    return record_end(records, err);
}

static bool put_frame(struct export_sheet *sheet, stack_id stack, size_t depth, frame_id id,
                      struct error *err)
{
    static const char *const kinds[] = {
        [FRAME_USER] = "user", [FRAME_LIBRARY] = "library", [FRAME_NATIVE] = "native"};
    struct record_writer *records = &sheet->records;
    struct frame frame = symbols_frame_at(site_table_symbols(sheet->sites), id);
    record_count(records, stack);
    record_count(records, depth);
    if (!export_string(sheet, frame.name, err) || !export_string(sheet, frame.file, err))
        return false;
    if (frame.line > 0)
        record_count(records, frame.line);
    else
        record_none(records);
    record_word(records, kinds[site_frame_kind(sheet->sites, id)]);
    return record_end(records, err);
}

bool export_stacks(struct export_sheet *sheet, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sheet->sites);
    size_t count = symbols_stack_count(symbols);
    for (size_t s = 1; s < count; s++) {
        struct stack stack = symbols_stack_at(symbols, (stack_id)s);
        for (size_t i = 0; i < stack.count; i++)
            if (!put_frame(sheet, (stack_id)s, i, stack.frames[i], err))
                return false;
    }
    return true;
}
