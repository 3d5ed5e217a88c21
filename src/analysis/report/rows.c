#include "analysis/report/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/live/sites.h"
#include "analysis/live/wrapper.h"
#include "base/units.h"
#include "model/live.h"

#define REASON_BYTES 256

/* State while the rows are made. */
struct builder {
    struct device_report *report;
    const struct live_set *set;
    struct site_groups groups;
    struct label_files files;
    struct buffer text; /* one label at a time */
};

/* The number of rows that are shown: at most `top`; 0: all. */
static size_t shown_rows(size_t count, size_t top)
{
    return top > 0 && top < count ? top : count;
}

/* Notes the files of all labels that will be shown, so that files with equal base names get longer
 * names. */
static bool note_files(struct builder *builder, size_t sites, size_t largest, struct error *err)
{
    label_files_init(&builder->files, site_table_symbols(builder->set->sites),
                     builder->groups.budget);
    for (size_t i = 0; i < sites; i++)
        if (!live_source_note_file(builder->set, &builder->groups.items[i].source, &builder->files,
                                   err))
            return false;
    for (size_t i = 0; i < largest; i++) {
        struct live_source source;
        if (!live_source_of(builder->set, &builder->set->items[i], &source, err) ||
            !live_source_note_file(builder->set, &source, &builder->files, err))
            return false;
    }
    label_files_settle(&builder->files);
    return true;
}

static bool label_source(struct builder *builder, const struct live_source *source,
                         struct label *label, struct error *err)
{
    return live_source_make_label(builder->set, source, &builder->files, &builder->text, label,
                                  err);
}

/* Adds a row that does not stand for a call site. */
static bool add_remainder(struct builder *builder, struct site_row row, const char *label,
                          struct error *err)
{
    row.is_remainder = true;
    row.group.source.shown = STACK_NONE;
    row.group.source.site = (struct site){.user_frame = NO_FRAME, .any_python_frame = NO_FRAME};
    row.group.category = CATEGORY_UNKNOWN;
    buffer_puts(&builder->text, label);
    if (!label_keep(site_table_symbols(builder->set->sites), &builder->text, &row.label.full, err))
        return false;
    row.label.brief = row.label.full;
    builder->report->sites[builder->report->site_count++] = row;
    return true;
}

/* Adds one row for the call sites after the first `shown`. */
static bool add_cut_sites(struct builder *builder, size_t shown, struct error *err)
{
    struct site_row rest = {0};
    char label[UNITS_TEXT_SIZE + 16], count[UNITS_TEXT_SIZE];
    size_t cut = builder->groups.placed - shown;
    if (cut == 0)
        return true;
    for (size_t i = shown; i < builder->groups.placed; i++) {
        const struct site_group *group = &builder->groups.items[i];
        rest.group.bytes += group->bytes;
        rest.group.count += group->count;
        rest.group.stacks += group->stacks;
    }
    snprintf(label, sizeof(label), "(%s more site%s)", units_count(count, cut),
             cut == 1 ? "" : "s");
    return add_remainder(builder, rest, label, err);
}

static bool add_group(struct builder *builder, const struct site_group *group, struct error *err)
{
    struct site_row *row = &builder->report->sites[builder->report->site_count++];
    *row = (struct site_row){.group = *group};
    return label_source(builder, &group->source, &row->label, err);
}

static bool make_sites(struct builder *builder, size_t shown, struct error *err)
{
    const struct site_groups *groups = &builder->groups;
    struct device_report *report = builder->report;
    size_t most = shown + (groups->count - groups->placed) + 2; /* two remainders */
    if (!vec_reserve(report->sites, report->site_capacity, most, groups->budget, err))
        return false;
    for (size_t i = 0; i < shown; i++)
        if (!add_group(builder, &groups->items[i], err))
            return false;
    for (size_t i = groups->placed; i < groups->count; i++)
        if (!add_group(builder, &groups->items[i], err))
            return false;
    if (!add_cut_sites(builder, shown, err))
        return false;
    struct site_row unexplained = {.group.bytes = builder->set->unexplained_bytes};
    return unexplained.group.bytes == 0 ||
           add_remainder(builder, unexplained, "(not explained: the trace contradicts itself)",
                         err);
}

static bool add_largest(struct builder *builder, const struct live *live, struct error *err)
{
    const struct timeline *timeline = builder->set->timeline;
    struct live_row *row = &builder->report->largest[builder->report->largest_count++];
    uint32_t freed = live->in_trace ? timeline->lifetimes[live->index].free_completed
                                    : timeline->preexisting[live->index].free_completed;
    struct live_source source;
    string_id annotation;
    if (!live_source_of(builder->set, live, &source, err) ||
        !live_note_text(timeline, live, &annotation, err))
        return false;
    *row = (struct live_row){
        .live = *live,
        .category = live_category(builder->set, live),
        .site = source.site,
        .born_item = live->in_trace ? (int64_t)timeline->lifetimes[live->index].alloc : -1,
        .freed_item = freed == EVENT_NEVER ? -1 : (int64_t)freed,
        .annotation = annotation,
    };
    return label_source(builder, &source, &row->label, err);
}

static bool make_largest(struct builder *builder, size_t shown, struct error *err)
{
    struct device_report *report = builder->report;
    if (!vec_reserve(report->largest, report->largest_capacity, shown + 1, builder->groups.budget,
                     err))
        return false;
    for (size_t i = 0; i < shown; i++)
        if (!add_largest(builder, &builder->set->items[i], err))
            return false;
    return true;
}

bool report_rows_make(struct device_report *report, const struct live_set *set, size_t top,
                      struct error *err)
{
    struct builder builder = {.report = report, .set = set};
    if (!live_groups_make(set, &builder.groups, err))
        return false;
    size_t sites = shown_rows(builder.groups.placed, top), largest = shown_rows(set->count, top);
    bool ok = note_files(&builder, sites, largest, err) && make_sites(&builder, sites, err) &&
              make_largest(&builder, largest, err);
    site_groups_release(&builder.groups);
    label_files_release(&builder.files);
    buffer_release(&builder.text);
    return ok;
}

void report_rows_release(struct device_report *report)
{
    struct budget *budget = report->timeline->snapshot->budget;
    vec_free(report->sites, report->site_capacity, sizeof(*report->sites), budget);
    vec_free(report->groups, report->group_capacity, sizeof(*report->groups), budget);
    vec_free(report->largest, report->largest_capacity, sizeof(*report->largest), budget);
    free(report->baseline);
}

static int compare_baseline_rows(const void *a, const void *b)
{
    const struct baseline_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    return (x->reason > y->reason) - (x->reason < y->reason);
}

bool report_baseline_make(struct device_report *report, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    const struct categories *categories = &report->all;
    size_t cells = (size_t)CATEGORY_LIMIT * REASON_BYTES, used = 0;
    struct baseline_row *made = calloc(cells, sizeof(*made));
    if (!made)
        return error_out_of_memory(err);
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        uint8_t category = categories->of_preexisting[i], reason = categories->why_preexisting[i];
        if (!timeline->preexisting[i].in_active)
            continue;
        struct baseline_row *row = &made[(size_t)category * REASON_BYTES + reason];
        row->category = category;
        row->reason = reason;
        row->bytes += (int64_t)timeline->preexisting[i].size;
        row->count++;
    }
    int64_t unexplained = timeline->trace->edge.active_offset;
    for (size_t i = 0; i < cells; i++)
        if (made[i].count > 0)
            made[used++] = made[i];
    if (unexplained != 0) /* there is room: no allocation has this category */
        made[used++] = (struct baseline_row){.category = CATEGORY_COUNT, .bytes = unexplained};
    if (used > 0)
        qsort(made, used, sizeof(*made), compare_baseline_rows);
    report->baseline = made;
    report->baseline_count = used;
    return true;
}
