#include "render/diff/layers.h"

#include <stdio.h>
#include <string.h>

#include "render/core/records.h"

static size_t shown(const struct layers_diff_report *report)
{
    size_t changed = report->diff->changed;
    return report->top > 0 && report->top < changed ? report->top : changed;
}

size_t layers_diff_lines(const struct layers_diff_report *report)
{
    const struct layers_diff *diff = report->diff;
    return shown(report) + (shown(report) < diff->changed) + (diff->changed < diff->count);
}

static const char *change_of(const struct layers_diff_row *row, bool is_remainder)
{
    int64_t delta = row->activations[1] - row->activations[0];
    if (!is_remainder && (row->modules[0] == 0 || row->modules[1] == 0))
        return diff_change_name(row->modules[0] == 0 ? DIFF_NEW : DIFF_GONE);
    return diff_change_name(delta == 0 ? DIFF_SAME : delta > 0 ? DIFF_GROWN : DIFF_SHRUNK);
}

static void sum_rows(const struct layers_diff *diff, size_t first, size_t end,
                     struct layers_diff_row *sum)
{
    for (size_t i = first; i < end; i++)
        for (int side = 0; side < 2; side++) {
            sum->activations[side] += diff->rows[i].activations[side];
            sum->params[side] += diff->rows[i].params[side];
            sum->runs[side] += diff->rows[i].runs[side];
            sum->modules[side] += diff->rows[i].modules[side];
        }
}

void layers_diff_line(const struct layers_diff_report *report, size_t i,
                      struct layers_diff_line *line)
{
    const struct layers_diff *diff = report->diff;
    char count[UNITS_TEXT_SIZE];
    *line = (struct layers_diff_line){.is_remainder = i >= shown(report)};
    if (!line->is_remainder) {
        line->row = diff->rows[i];
    } else {
        bool cut = i == shown(report) && shown(report) < diff->changed;
        size_t first = cut ? shown(report) : diff->changed, end = cut ? diff->changed : diff->count;
        sum_rows(diff, first, end, &line->row);
        snprintf(line->label, sizeof(line->label), "(%s %smodule%s%s)",
                 units_count(count, end - first), cut ? "more " : "", end - first == 1 ? "" : "s",
                 cut ? "" : " without a change");
        line->row.name = (struct text){line->label, strlen(line->label)};
        line->row.was = (struct text){"", 0};
    }
    line->change = change_of(&line->row, line->is_remainder);
}

static void add_figure(struct table *table, const struct page *page, const char *name, int64_t a,
                       int64_t b)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, diff_signed(page, text, b - a));
    table_add(table, page_bytes(page, text, a));
    table_add(table, page_bytes(page, text, b));
    table_add(table, name);
}

static bool figures(const struct page *page, const struct layers_diff *diff)
{
    static const struct table_column columns[] = {{.title = "change"},
                                                  {.title = "A", .optional = 1},
                                                  {.title = "B"},
                                                  {.title = "", .kind = COLUMN_LABEL}};
    const struct layers_report *a = diff->reports[0], *b = diff->reports[1];
    struct table table;
    table_init(&table, columns, 4);
    add_figure(&table, page, "peak allocated", a->allocated.bytes, b->allocated.bytes);
    add_figure(&table, page, "peak reserved", a->reserved.bytes, b->reserved.bytes);
    add_figure(&table, page, "activations", a->total_activations, b->total_activations);
    add_figure(&table, page, "parameters", a->nodes[0].params, b->nodes[0].params);
    if (layers_gathered(a) || layers_gathered(b))
        add_figure(&table, page, "peak gathered", a->gathered.bytes, b->gathered.bytes);
    fputc('\n', page->out);
    table_print(&table, page, 2);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

static bool modules(const struct page *page, const struct layers_diff_report *report)
{
    static const struct table_column columns[] = {
        {.title = "change"},
        {.title = "A", .optional = 2},
        {.title = "B", .optional = 1},
        {.title = "runs", .optional = 3},
        {.title = "parameters", .optional = 4},
        {"module", COLUMN_TEXT, CUT_START, 30, 0},
    };
    struct table table;
    struct layers_diff_line line;
    char text[UNITS_TEXT_SIZE];
    table_init(&table, columns, 6);
    for (size_t i = 0; i < layers_diff_lines(report); i++) {
        layers_diff_line(report, i, &line);
        diff_add_amounts(&table, page, line.row.activations, line.row.runs);
        table_add(&table, diff_signed(page, text, line.row.params[1] - line.row.params[0]));
        if (line.row.name.size > 0)
            table_add_input(&table, line.row.name.bytes, line.row.name.size);
        else
            table_add(&table, "(the model)");
    }
    diff_title(page, "By module: activations");
    table_print(&table, page, 2);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

bool layers_diff_text(const struct page *page, const struct layers_diff_report *report)
{
    const struct layers_diff *diff = report->diff;
    for (int side = 0; side < 2; side++)
        if (!input_line(page, &report->inputs[side]))
            return false;
    diff_title(page, "Layer traces");
    if (!diff_paragraphs(page, STYLE_TITLE, "", &diff->summary) ||
        !diff_limit_text(page, &report->limit) ||
        !diff_paragraphs(page, STYLE_WARNING, "warning:", &diff->warnings) || !figures(page, diff))
        return false;
    return diff->count == 0 || modules(page, report);
}

bool layers_diff_csv(FILE *out, const struct layers_diff_report *report, struct error *err)
{
    static const char *const columns[] = {"module",   "a_module",    "change",  "a_bytes",
                                          "b_bytes",  "delta_bytes", "a_count", "b_count",
                                          "a_params", "b_params",    NULL};
    static const struct record_table table = {"diff", columns};
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, &table, err))
        return false;
    for (size_t i = 0; i < layers_diff_lines(report); i++) {
        struct layers_diff_line line;
        layers_diff_line(report, i, &line);
        record_text(&csv, line.row.name.bytes, line.row.name.size);
        record_text(&csv, line.row.was.bytes, line.row.was.size);
        record_word(&csv, line.change);
        for (int side = 0; side < 2; side++)
            record_integer(&csv, line.row.activations[side]);
        record_integer(&csv, line.row.activations[1] - line.row.activations[0]);
        for (int side = 0; side < 2; side++)
            record_count(&csv, line.row.runs[side]);
        for (int side = 0; side < 2; side++)
            record_integer(&csv, line.row.params[side]);
        if (!record_end(&csv, err)) {
            records_release(&csv);
            return false;
        }
    }
    return records_end(&csv, err);
}
