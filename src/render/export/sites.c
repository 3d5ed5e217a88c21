#include <stdlib.h>

#include "analysis/live/sites.h"
#include "render/export/parts.h"

static bool put_frame(struct export_sheet *sheet, const struct live_source *source,
                      struct error *err)
{
    struct record_writer *records = &sheet->records;
    frame_id id;
    if (!site_frame(sheet->sites, source->shown, &source->site, &id)) {
        for (int i = 0; i < 3; i++)
            record_none(records);
        return true;
    }
    struct frame frame = symbols_frame_at(site_table_symbols(sheet->sites), id);
    if (!export_string(sheet, frame.file, err))
        return false;
    if (frame.line > 0)
        record_count(records, frame.line);
    else
        record_none(records);
    return export_string(sheet, frame.name, err);
}

static bool put_group(struct export_sheet *sheet, const struct live_set *set,
                      const struct site_group *group, struct error *err)
{
    struct record_writer *records = &sheet->records;
    record_count(records, set->timeline->device);
    record_integer(records, group->bytes);
    record_count(records, group->count);
    record_count(records, group->stacks);
    export_category_name(sheet, group->category);
    if (!export_source_label(sheet, set, &group->source, err) ||
        !put_frame(sheet, &group->source, err))
        return false;
    export_stack(sheet, group->source.shown);
    return record_end(records, err);
}

/* What a trace that contradicts itself leaves over, so that all rows sum to the curve. */
static bool put_unexplained(struct export_sheet *sheet, const struct live_set *set,
                            struct error *err)
{
    struct record_writer *records = &sheet->records;
    if (set->unexplained_bytes == 0)
        return true;
    record_count(records, set->timeline->device);
    record_integer(records, set->unexplained_bytes);
    record_count(records, 0);
    record_count(records, 0);
    export_category_name(sheet, CATEGORY_COUNT);
    for (int i = 0; i < 6; i++)
        record_none(records);
    return record_end(records, err);
}

bool export_sites(struct export_sheet *sheet, const struct export_device *device, int64_t item,
                  struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct live_set set = {
        .timeline = timeline, .sites = sheet->sites, .categories = device->categories};
    struct site_groups groups = {.budget = timeline->snapshot->budget};
    struct live_list live;
    if (!timeline_live(timeline, item, &live, err))
        return false;
    live_set_take(&set, &live);
    bool ok = site_groups_make(&set, &groups, err);
    for (size_t i = 0; ok && i < groups.count; i++)
        ok = put_group(sheet, &set, &groups.items[i], err);
    ok = ok && put_unexplained(sheet, &set, err);
    site_groups_release(&groups);
    live_list_release(&live);
    return ok;
}
