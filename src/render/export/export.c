#include "render/export/internal.h"

#include "render/core/site_type.h"

const struct row_type *const export_tables[EXPORT_TABLES] = {
    [EXPORT_ALLOCATIONS] = &export_allocation_type,
    [EXPORT_EVENTS] = &export_event_type,
    [EXPORT_SEGMENTS] = &export_segment_type,
    [EXPORT_BLOCKS] = &export_block_type,
    [EXPORT_SITES] = &site_type,
    [EXPORT_STACKS] = &export_frame_type,
    [EXPORT_ANNOTATIONS] = &export_annotation_type,
};

void export_sheet_init(struct export_sheet *sheet, struct site_table *sites, struct budget *budget)
{
    *sheet = (struct export_sheet){.sites = sites};
    record_cells_init(&sheet->strings, budget);
    record_cells_init(&sheet->labels, budget);
    record_cells_init(&sheet->operators, budget);
    sheet->records.strings = &sheet->strings;
    sheet->context = (struct field_context){.symbols = site_table_symbols(sites)};
}

bool export_begin(struct export_sheet *sheet, FILE *out, enum record_format format,
                  enum export_table table, struct site_table *sites, struct budget *budget,
                  struct error *err)
{
    export_sheet_init(sheet, sites, budget);
    if (!records_begin(&sheet->records, out, format, export_tables[table], err)) {
        export_release(sheet);
        return false;
    }
    sheet->records.strings = &sheet->strings;
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
