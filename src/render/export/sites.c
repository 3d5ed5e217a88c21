#include "analysis/live/wrapper.h"
#include "render/core/site_type.h"
#include "render/export/internal.h"

bool export_row(struct export_sheet *sheet, const void *row, struct error *err)
{
    return record_put_row(&sheet->records, row, &sheet->context, err);
}

static bool make_site(struct export_sheet *sheet, stack_id stack, struct error *err)
{
    struct site site;
    struct buffer label = BUFFER_INIT;
    if (!site_of(sheet->sites, stack, &site, err))
        return false;
    site_label(sheet->sites, stack, &site, &label);
    struct text op = symbols_text(site_table_symbols(sheet->sites), site.op);
    bool ok = !label.failed || error_out_of_memory(err);
    ok = ok &&
         record_cells_make(&sheet->labels, &sheet->records, stack, label.bytes, label.size, err) &&
         record_cells_make(&sheet->operators, &sheet->records, stack, op.bytes, op.size, err);
    buffer_release(&label);
    return ok;
}

/* The sheet whose first member is this writer. */
static struct export_sheet *sheet_of(struct record_writer *records)
{
    return (struct export_sheet *)records;
}

/* The cell of a stack in `cells`. The label and the operator of a stack are made together. */
static bool put_cell(struct record_writer *records, const struct record_cells *cells,
                     stack_id stack, struct error *err)
{
    const struct text *cell = NULL;
    if (stack == STACK_NONE) {
        record_none(records);
        return true;
    }
    cell = record_cells_find(cells, stack);
    if (!cell && make_site(sheet_of(records), stack, err))
        cell = record_cells_find(cells, stack);
    if (cell)
        record_cell(records, *cell);
    return cell;
}

bool export_put_label(struct record_writer *records, stack_id stack, struct error *err)
{
    return put_cell(records, &sheet_of(records)->labels, stack, err);
}

bool export_put_operator(struct record_writer *records, stack_id stack, struct error *err)
{
    return put_cell(records, &sheet_of(records)->operators, stack, err);
}

bool export_put_source_label(struct record_writer *records, const struct live_source *source,
                             struct error *err)
{
    struct buffer label = BUFFER_INIT;
    if (source->source != SOURCE_FORWARD)
        return export_put_label(records, source->shown, err);
    live_source_label(sheet_of(records)->set, source, NULL, false, &label);
    bool ok = !label.failed || error_out_of_memory(err);
    if (ok)
        record_text(records, label.bytes, label.size);
    buffer_release(&label);
    return ok;
}

bool export_put_source_operator(struct record_writer *records, const struct live_source *source,
                                struct error *err)
{
    if (source->source != SOURCE_FORWARD)
        return export_put_operator(records, source->shown, err);
    return record_string(records, &sheet_of(records)->context, source->site.op, err);
}

static bool put_group(struct export_sheet *sheet, const struct live_set *set,
                      const struct site_group *group, struct error *err)
{
    struct buffer label = BUFFER_INIT;
    struct site_row row = {.group = *group};
    if (group->source.source == SOURCE_FORWARD || group->source.shown != STACK_NONE)
        live_source_label(set, &group->source, NULL, false, &label);
    row.label.full = label.size > 0 ? label.bytes : NULL;
    bool ok = !label.failed || error_out_of_memory(err);
    ok = ok && export_row(sheet, &row, err);
    buffer_release(&label);
    return ok;
}

/* Adds the bytes that no allocation of an inconsistent trace explains, so that the rows sum to the
 * curve. */
static bool put_unexplained(struct export_sheet *sheet, const struct live_set *set,
                            struct error *err)
{
    const struct site_row row = {
        .group.bytes = set->unexplained_bytes,
        .group.source.site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
        .group.category = CATEGORY_COUNT,
    };
    return row.group.bytes == 0 || export_row(sheet, &row, err);
}

bool export_sites(struct export_sheet *sheet, const struct export_device *device, int64_t item,
                  struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct live_set set = {
        .timeline = timeline, .sites = sheet->sites, .categories = device->categories};
    struct site_groups groups = {.budget = timeline->snapshot->budget};
    const struct site_context context = {sheet->sites, timeline->device};
    struct live_list live;
    if (!timeline_live(timeline, item, &live, err))
        return false;
    sheet->context.user = &context;
    live_set_take(&set, &live);
    bool ok = live_groups_make(&set, &groups, err);
    for (size_t i = 0; ok && i < groups.count; i++)
        ok = put_group(sheet, &set, &groups.items[i], err);
    ok = ok && put_unexplained(sheet, &set, err);
    site_groups_release(&groups);
    live_list_release(&live);
    return ok;
}
