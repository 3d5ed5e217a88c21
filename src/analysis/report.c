#include "analysis/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/annotations.h"
#include "analysis/notices.h"
#include "analysis/report_sites.h"
#include "base/units.h"

/* What building needs and the report does not keep. */
struct builder {
    struct device_report *report;
    const struct report_options *options;
    struct live_set set;
    struct live *live; /* set.items, owned */
    struct categories categories;
    struct site_groups groups;
    struct label_files files;
    struct buffer text; /* one label at a time */
};

static bool out_of_memory(struct error *err)
{
    return error_set(err, STATUS_LIMIT, "out of memory while summing up");
}

static bool choose_moment(struct device_report *report, const struct report_options *options,
                          struct error *err)
{
    const struct timeline *timeline = report->timeline;
    int64_t peak = timeline->active.peak_event, item = peak;
    if (options->at_end)
        item = (int64_t)timeline->trace->count - 1;
    else if (options->at_given && !timeline_item_at(timeline, options->at, &item, err))
        return false;
    timeline_moment(timeline, peak, &report->peak);
    report->at = report->peak;
    if (item != peak)
        timeline_moment(timeline, item, &report->at);
    report->at_item = item;
    return true;
}

static int compare_category_rows(const void *a, const void *b)
{
    const struct category_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->category < y->category ? -1 : x->category > y->category;
}

static void sum_categories(struct builder *builder)
{
    struct device_report *report = builder->report;
    struct category_row rows[CATEGORY_COUNT + 1];
    for (int i = 0; i <= CATEGORY_COUNT; i++)
        rows[i] = (struct category_row){.category = (enum category)i};
    for (size_t i = 0; i < builder->set.count; i++) {
        const struct live *live = &builder->live[i];
        struct category_row *row = &rows[live_category(&builder->set, live)];
        row->bytes += (int64_t)live->size;
        row->count++;
    }
    rows[CATEGORY_COUNT].bytes = builder->set.unexplained_bytes;
    for (int i = 0; i <= CATEGORY_COUNT; i++)
        if (rows[i].count > 0 || rows[i].bytes != 0)
            report->categories[report->category_count++] = rows[i];
    if (report->category_count > 0)
        qsort(report->categories, report->category_count, sizeof(rows[0]), compare_category_rows);
}

/* How many of `count` rows a limit of `top` shows. */
static size_t shown_rows(size_t count, size_t top)
{
    return top > 0 && top < count ? top : count;
}

/* Larger first; what is older first among equals. */
static int compare_live(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->in_trace != y->in_trace)
        return x->in_trace ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool note_file(struct builder *builder, const struct live_source *source, struct error *err)
{
    string_id file;
    return !live_source_file(&builder->set, source, &file) ||
           label_files_add(&builder->files, file, err);
}

/* The files of all labels that will be shown, so that equal base names can be told apart. */
static bool note_files(struct builder *builder, size_t sites, size_t largest, struct error *err)
{
    label_files_init(&builder->files, site_table_symbols(builder->set.sites),
                     builder->groups.budget);
    for (size_t i = 0; i < sites; i++)
        if (!note_file(builder, &builder->groups.items[i].source, err))
            return false;
    for (size_t i = 0; i < largest; i++) {
        struct live_source source;
        if (!live_source_of(&builder->set, &builder->live[i], &source, err) ||
            !note_file(builder, &source, err))
            return false;
    }
    label_files_settle(&builder->files);
    return true;
}

static bool take_label(struct builder *builder, char **label, struct error *err)
{
    char *copy =
        builder->text.failed ? NULL : strdup(builder->text.bytes ? builder->text.bytes : "");
    buffer_clear(&builder->text);
    if (!copy)
        return out_of_memory(err);
    *label = copy;
    return true;
}

static bool label_of(struct builder *builder, const struct live_source *source, char **label,
                     struct error *err)
{
    buffer_clear(&builder->text);
    live_source_label(&builder->set, source, &builder->files, &builder->text);
    return take_label(builder, label, err);
}

/* A row that stands for no one site. */
static bool add_remainder(struct builder *builder, struct site_row row, const char *label,
                          struct error *err)
{
    struct device_report *report = builder->report;
    row.is_remainder = true;
    row.stack = STACK_NONE;
    row.site = (struct site){.user_frame = NO_FRAME, .any_python_frame = NO_FRAME};
    row.category = CATEGORY_UNKNOWN;
    buffer_puts(&builder->text, label);
    if (!take_label(builder, &row.label, err))
        return false;
    report->sites[report->site_count++] = row;
    return true;
}

static bool add_cut_sites(struct builder *builder, size_t shown, struct error *err)
{
    struct site_row rest = {0};
    char label[UNITS_TEXT_SIZE + 16], count[UNITS_TEXT_SIZE];
    size_t cut = builder->groups.count - shown;
    if (cut == 0)
        return true;
    for (size_t i = shown; i < builder->groups.count; i++) {
        const struct site_group *group = &builder->groups.items[i];
        rest.bytes += group->bytes;
        rest.count += group->count;
        rest.stacks += group->stacks;
    }
    snprintf(label, sizeof(label), "(%s more site%s)", units_count(count, cut),
             cut == 1 ? "" : "s");
    return add_remainder(builder, rest, label, err);
}

static bool make_sites(struct builder *builder, size_t shown, struct error *err)
{
    struct device_report *report = builder->report;
    report->sites = calloc(shown + 2, sizeof(*report->sites));
    if (!report->sites)
        return out_of_memory(err);
    for (size_t i = 0; i < shown; i++) {
        const struct site_group *group = &builder->groups.items[i];
        struct site_row *row = &report->sites[i];
        *row = (struct site_row){
            .bytes = group->bytes,
            .count = group->count,
            .stacks = group->stacks,
            .stack = group->source.shown,
            .site = group->source.site,
            .category = group->category,
        };
        if (!label_of(builder, &group->source, &row->label, err))
            return false;
        report->site_count++;
    }
    if (!add_cut_sites(builder, shown, err))
        return false;
    struct site_row unexplained = {.bytes = builder->set.unexplained_bytes};
    return unexplained.bytes == 0 ||
           add_remainder(builder, unexplained, "(not explained: the trace contradicts itself)",
                         err);
}

static bool make_largest(struct builder *builder, size_t shown, struct error *err)
{
    struct device_report *report = builder->report;
    const struct timeline *timeline = report->timeline;
    report->largest = calloc(shown + 1, sizeof(*report->largest));
    if (!report->largest)
        return out_of_memory(err);
    for (size_t i = 0; i < shown; i++) {
        struct live_row *row = &report->largest[i];
        const struct live *live = &builder->live[i];
        uint32_t freed = live->in_trace ? timeline->lifetimes[live->index].free_completed
                                        : timeline->carried[live->index].free_completed;
        struct live_source source;
        if (!live_source_of(&builder->set, live, &source, err) ||
            !label_of(builder, &source, &row->label, err))
            return false;
        row->live = *live;
        row->category = live_category(&builder->set, live);
        row->site = source.site;
        row->born_item = live->in_trace ? (int64_t)timeline->lifetimes[live->index].alloc : -1;
        row->freed_item = freed == EVENT_NEVER ? -1 : (int64_t)freed;
        report->largest_count++;
    }
    return true;
}

static bool build_rows(struct builder *builder, struct error *err)
{
    struct device_report *report = builder->report;
    struct live_set *set = &builder->set;
    if (!categories_assign(report->timeline, set->sites, &builder->categories, err) ||
        !timeline_live(report->timeline, report->at_item, &builder->live, &set->count,
                       &set->unexplained_bytes, err))
        return false;
    set->items = builder->live;
    set->categories = &builder->categories;
    sum_categories(builder);
    if (set->count > 0)
        qsort(builder->live, set->count, sizeof(*builder->live), compare_live);
    if (!site_groups_make(set, &builder->groups, err))
        return false;

    size_t sites = shown_rows(builder->groups.count, builder->options->top);
    size_t largest = shown_rows(set->count, builder->options->top);
    return note_files(builder, sites, largest, err) && make_sites(builder, sites, err) &&
           make_largest(builder, largest, err);
}

static void builder_release(struct builder *builder)
{
    free(builder->live);
    categories_release(&builder->categories);
    site_groups_release(&builder->groups);
    label_files_release(&builder->files);
    buffer_release(&builder->text);
}

struct device_report *device_report_build(const struct timeline *timeline, struct site_table *sites,
                                          const struct report_options *options, struct error *err)
{
    struct device_report *report = calloc(1, sizeof(*report));
    if (!report) {
        out_of_memory(err);
        return NULL;
    }
    report->timeline = timeline;
    struct builder builder = {
        .report = report,
        .options = options,
        .set = {.timeline = timeline, .sites = sites},
    };
    bool ok = choose_moment(report, options, err) && build_rows(&builder, err) &&
              annotations_open(timeline, report->at_item, &report->annotations,
                               &report->annotation_count, err) &&
              notices_make(timeline, builder.set.unexplained_bytes, &report->notices,
                           &report->notice_count, err);
    builder_release(&builder);
    if (!ok) {
        device_report_destroy(report);
        return NULL;
    }
    return report;
}

void device_report_destroy(struct device_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->site_count; i++)
        free(report->sites[i].label);
    for (size_t i = 0; i < report->largest_count; i++)
        free(report->largest[i].label);
    free(report->sites);
    free(report->largest);
    free(report->annotations);
    free(report->notices);
    free(report);
}
