#include "analysis/check/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/paths.h"

/* By function, line and frame, then in the order of the report. */
static int compare_lines(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    int order = text_compare(x->file, y->file);
    if (!order)
        order = text_compare(x->name, y->name);
    if (!order)
        order = (x->line > y->line) - (x->line < y->line);
    if (!order)
        order = (x->frame > y->frame) - (x->frame < y->frame);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Joins the rows of a frame, which are adjacent, into one line. The first is the largest. */
static void join_rows(struct code_lines *lines)
{
    size_t joined = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (joined > 0 && lines->items[joined - 1].frame == lines->items[i].frame)
            lines->items[joined - 1].bytes += lines->items[i].bytes;
        else
            lines->items[joined++] = lines->items[i];
    }
    lines->count = joined;
}

bool code_lines_counts(const struct site_row *row, site_row_test *counts, void *self)
{
    return !row->is_remainder && (!counts || counts(self, row));
}

bool code_lines_make(struct code_lines *lines, const struct device_report *report,
                     const struct site_table *sites, site_row_test *counts, void *self,
                     struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sites);
    struct code_lines made = {.budget = report->timeline->snapshot->budget};
    if (!vec_reserve(made.items, made.capacity, report->site_count + 1, made.budget, err))
        return false;
    for (size_t i = 0; i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        frame_id id;
        if (!code_lines_counts(row, counts, self) ||
            !site_frame(sites, row->group.source.shown, &row->group.source.site, &id))
            continue;
        struct frame frame = symbols_frame_at(symbols, id);
        made.items[made.count++] = (struct code_line){
            .file = text_last(path_base(symbols_text(symbols, frame.file)), LABEL_NAME_MOST),
            .name = text_first(symbols_text(symbols, frame.name), LABEL_NAME_MOST),
            .line = frame.line,
            .frame = id,
            .bytes = row->group.bytes,
            .row = i,
        };
    }
    if (made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), compare_lines);
    join_rows(&made);
    *lines = made;
    return true;
}

void code_lines_release(struct code_lines *lines)
{
    vec_free(lines->items, lines->capacity, sizeof(*lines->items), lines->budget);
    *lines = (struct code_lines){0};
}

size_t code_lines_function(const struct code_lines *lines, size_t first)
{
    const struct code_line *items = lines->items;
    size_t end = first;
    while (end < lines->count && text_compare(items[end].file, items[first].file) == 0 &&
           text_compare(items[end].name, items[first].name) == 0)
        end++;
    return end;
}

void check_baseline_init(struct check_baseline *baseline, size_t max_memory)
{
    *baseline = (struct check_baseline){.budget = {.limit = max_memory}};
    arena_init(&baseline->arena, &baseline->budget);
}

void check_baseline_release(struct check_baseline *baseline)
{
    vec_free(baseline->devices, baseline->device_capacity, sizeof(*baseline->devices),
             &baseline->budget);
    vec_free(baseline->lines, baseline->line_capacity, sizeof(*baseline->lines), &baseline->budget);
    arena_release(&baseline->arena);
    *baseline = (struct check_baseline){0};
}

static bool add_device(struct check_baseline *baseline, int64_t device, int64_t peak_bytes,
                       struct error *err)
{
    return vec_push(baseline->devices, baseline->device_count, baseline->device_capacity,
                    &baseline->budget, err,
                    (struct baseline_device){
                        .device = device, .peak_bytes = peak_bytes, .first = baseline->line_count});
}

static bool keep_text(struct check_baseline *baseline, struct text text, struct text *kept,
                      struct error *err)
{
    char *bytes = arena_alloc(&baseline->arena, text.size + 1, err);
    if (!bytes)
        return false;
    memcpy(bytes, text.bytes, text.size);
    bytes[text.size] = '\0';
    *kept = (struct text){bytes, text.size};
    return true;
}

static bool add_line(struct check_baseline *baseline, const struct code_line *line,
                     struct error *err)
{
    struct baseline_line kept = {.bytes = line->bytes};
    if (!keep_text(baseline, line->file, &kept.file, err) ||
        !keep_text(baseline, line->name, &kept.name, err) ||
        !vec_grow((void **)&baseline->lines, &baseline->line_capacity, baseline->line_count + 1,
                  sizeof(kept), &baseline->budget, err))
        return false;
    baseline->lines[baseline->line_count++] = kept;
    baseline->devices[baseline->device_count - 1].count++;
    return true;
}

bool check_baseline_add(struct check_baseline *baseline, const struct device_report *report,
                        struct site_table *sites, struct error *err)
{
    struct code_lines lines;
    if (!code_lines_make(&lines, report, sites, NULL, NULL, err))
        return false;
    bool ok =
        add_device(baseline, report->timeline->device, report->timeline->active.peak_bytes, err);
    for (size_t i = 0; ok && i < lines.count; i++)
        ok = add_line(baseline, &lines.items[i], err);
    code_lines_release(&lines);
    return ok;
}

bool check_baseline_add_peak(struct check_baseline *baseline, int64_t peak_bytes, struct error *err)
{
    return add_device(baseline, BASELINE_NO_DEVICE, peak_bytes, err);
}

const struct baseline_device *check_baseline_find(const struct check_baseline *baseline,
                                                  int64_t device)
{
    for (size_t i = 0; i < baseline->device_count; i++)
        if (baseline->devices[i].device == device)
            return &baseline->devices[i];
    return NULL;
}

static int compare_function(const struct baseline_line *line, struct text file, struct text name)
{
    int order = text_compare(line->file, file);
    return order ? order : text_compare(line->name, name);
}

const struct baseline_line *check_baseline_function(const struct check_baseline *baseline,
                                                    const struct baseline_device *device,
                                                    struct text file, struct text name,
                                                    size_t *count)
{
    size_t low = device->first, end = device->first + device->count, high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_function(&baseline->lines[middle], file, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < end && compare_function(&baseline->lines[low + *count], file, name) == 0)
        ++*count;
    return baseline->lines ? baseline->lines + low : NULL;
}
