#include "analysis/live/sites.h"
#include "render/core/site_type.h"
#include "render/export/internal.h"

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
    bool ok = site_groups_make(&set, &groups, err);
    for (size_t i = 0; ok && i < groups.count; i++)
        ok = put_group(sheet, &set, &groups.items[i], err);
    ok = ok && put_unexplained(sheet, &set, err);
    site_groups_release(&groups);
    live_list_release(&live);
    return ok;
}
