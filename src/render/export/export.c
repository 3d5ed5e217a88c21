#include "render/export/export.h"

#include <string.h>

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct record_table export_tables[EXPORT_TABLES] = {
    [EXPORT_ALLOCATIONS] = {"allocations",
                            COLUMNS("device", "address", "size", "rounded_size", "stream",
                                    "pool_id_0", "pool_id_1", "category", "confidence", "reason",
                                    "origin", "counts_in", "birth_event", "birth_time_us",
                                    "birth_phase", "birth_step", "free_requested_event",
                                    "free_requested_time_us", "death_event", "death_time_us",
                                    "death_phase", "death_step", "site", "operator", "stack",
                                    "forward_stack")},
    [EXPORT_EVENTS] = {"events", COLUMNS("device", "event", "action", "address", "size",
                                         "device_free", "time_us", "stream", "pool_id_0",
                                         "pool_id_1", "site", "operator", "stack", "forward_stack",
                                         "category", "compile_context", "user_metadata")},
    [EXPORT_SEGMENTS] = {"segments", COLUMNS("device", "address", "size", "segment_type", "stream",
                                             "pool_id_0", "pool_id_1", "is_expandable", "blocks",
                                             "allocated_size", "active_size", "requested_size",
                                             "inactive_size", "largest_inactive_block")},
    [EXPORT_BLOCKS] = {"blocks",
                       COLUMNS("device", "segment_address", "address", "size", "requested_size",
                               "state", "category", "confidence", "birth_event", "birth_time_us",
                               "site", "operator", "stack")},
    [EXPORT_SITES] = {"sites", COLUMNS("device", "bytes", "count", "stacks", "category", "site",
                                       "operator", "file", "line", "function", "stack")},
    [EXPORT_STACKS] = {"stacks", COLUMNS("stack", "depth", "function", "file", "line", "kind")},
    [EXPORT_ANNOTATIONS] = {"annotations", COLUMNS("device", "stage", "name", "time_us")},
};

bool export_begin(struct export_sheet *sheet, FILE *out, enum record_format format,
                  enum export_table table, struct site_table *sites, struct budget *budget,
                  struct error *err)
{
    if (!records_begin(&sheet->records, out, format, &export_tables[table], err))
        return false;
    sheet->sites = sites;
    record_cells_init(&sheet->strings, budget);
    record_cells_init(&sheet->labels, budget);
    record_cells_init(&sheet->operators, budget);
    return true;
}

bool export_end(struct export_sheet *sheet, struct error *err)
{
    return records_end(&sheet->records, err);
}

void export_release(struct export_sheet *sheet)
{
    records_release(&sheet->records);
    record_cells_release(&sheet->strings);
    record_cells_release(&sheet->labels);
    record_cells_release(&sheet->operators);
}

bool export_string(struct export_sheet *sheet, string_id id, struct error *err)
{
    if (id == STRING_EMPTY) {
        record_none(&sheet->records);
        return true;
    }
    const struct text *cell = record_cells_find(&sheet->strings, id);
    if (!cell) {
        struct text text = symbols_text(site_table_symbols(sheet->sites), id);
        cell = record_cells_make(&sheet->strings, &sheet->records, id, text.bytes, text.size, err);
        if (!cell)
            return false;
    }
    record_cell(&sheet->records, *cell);
    return true;
}

void export_time(struct export_sheet *sheet, int64_t time_us)
{
    if (time_us == TIME_NONE)
        record_none(&sheet->records);
    else
        record_integer(&sheet->records, time_us);
}

void export_stack(struct export_sheet *sheet, stack_id stack)
{
    if (stack == STACK_NONE)
        record_none(&sheet->records);
    else
        record_count(&sheet->records, stack);
}

static bool make_site(struct export_sheet *sheet, stack_id stack, struct error *err)
{
    struct site site;
    struct buffer label = BUFFER_INIT;
    if (!site_of(sheet->sites, stack, &site, err))
        return false;
    site_label(sheet->sites, stack, &site, &label);
    struct text op = symbols_text(site_table_symbols(sheet->sites), site.op);
    bool ok = !label.failed || error_set(err, STATUS_LIMIT, "out of memory");
    ok = ok &&
         record_cells_make(&sheet->labels, &sheet->records, stack, label.bytes, label.size, err) &&
         record_cells_make(&sheet->operators, &sheet->records, stack, op.bytes, op.size, err);
    buffer_release(&label);
    return ok;
}

bool export_site(struct export_sheet *sheet, stack_id stack, struct error *err)
{
    if (stack == STACK_NONE) {
        record_none(&sheet->records);
        record_none(&sheet->records);
        return true;
    }
    if (!record_cells_find(&sheet->operators, stack) && !make_site(sheet, stack, err))
        return false;
    record_cell(&sheet->records, *record_cells_find(&sheet->labels, stack));
    record_cell(&sheet->records, *record_cells_find(&sheet->operators, stack));
    return true;
}
