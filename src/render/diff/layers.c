#include <stdio.h>
#include <string.h>

#include "render/diff/rows.h"

/* A module that changed, or the sum of those that are not listed. */
struct layers_diff_line {
    struct diff_amounts amounts; /* activations and runs of row */
    struct layers_diff_row row;
    bool is_remainder; /* row.name is `label` */
    char label[UNITS_TEXT_SIZE + 64];
    const char *change; /* "grown" */
};

static size_t shown(const struct layers_diff_report *report)
{
    size_t changed = report->diff->changed;
    return report->top > 0 && report->top < changed ? report->top : changed;
}

/* Number of lines. */
static size_t line_count(const struct layers_diff_report *report)
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

/* Line `i`: the modules that changed, then what a limit cut, then what did not change. Names of a
 * remainder point into `line`. */
static void make_line(const struct layers_diff_report *report, size_t i,
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
    for (int side = 0; side < 2; side++) {
        line->amounts.bytes[side] = line->row.activations[side];
        line->amounts.count[side] = line->row.runs[side];
    }
}

static struct value matched_by(const void *data, const struct field_context *context)
{
    const struct layers_diff_line *line = data;
    bool both = line->row.modules[0] > 0 && line->row.modules[1] > 0 && !line->is_remainder;
    (void)context;
    return value_word(diff_matched_name(both ? DIFF_BY_FUNCTION : DIFF_BY_NOTHING));
}

static struct value params_change(const void *data, const struct field_context *context)
{
    const struct layers_diff_row *row = &((const struct layers_diff_line *)data)->row;
    (void)context;
    return value_integer(row->params[1] - row->params[0]);
}

#define ROW struct layers_diff_line
static const struct row_type layers_diff_type = ROW_TYPE(
    "sites", ROW, FIELD_AS(ROW, TEXT, "label", row.name, .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, TEXT, "a_label", row.was, .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD),
    FIELD_AS(ROW, TEXT, "module", row.name, .flags = FIELD_NOT_JSON),
    FIELD_AS(ROW, TEXT, "a_module", row.was, .flags = FIELD_NOT_JSON),
    DIFF_AMOUNTS(ROW, "runs", 2, 1, 3),
    FIELD_CALL(CHANGE, NULL, params_change, .title = "parameters", .optional = 4),
    FIELD_AS(ROW, TEXT, NULL, row.name, .title = "module", .cut = CUT_START, .least = 30,
             .flags = FIELD_SKIP_ZERO, .absent = "(the model)"),
    FIELD(ROW, WORD, change), FIELD_CALL(WORD, "matched_by", matched_by, .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, BYTES, "a_params", row.params[0], .cell = 4),
    FIELD_AS(ROW, BYTES, "b_params", row.params[1], .cell = 4),
    FIELD_AS(ROW, COUNT, "a_sites", row.modules[0], .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, COUNT, "b_sites", row.modules[1], .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, FLAG, "remainder", is_remainder, .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD));
#undef ROW

static bool figures(const struct page *page, const struct layers_diff *diff)
{
    const struct layers_report *a = diff->reports[0], *b = diff->reports[1];
    struct diff_figure rows[5];
    size_t count = 0;
    rows[count++] = diff_figure("peak allocated", a->allocated.bytes, b->allocated.bytes);
    rows[count++] = diff_figure("peak reserved", a->reserved.bytes, b->reserved.bytes);
    rows[count++] = diff_figure("activations", a->total_activations, b->total_activations);
    rows[count++] = diff_figure("parameters", a->nodes[0].params, b->nodes[0].params);
    if (layers_gathered(a) || layers_gathered(b))
        rows[count++] = diff_figure("peak gathered", a->gathered.bytes, b->gathered.bytes);
    return diff_figures_text(page, rows, count);
}

static bool modules(const struct page *page, const struct layers_diff_report *report)
{
    struct row_table table;
    struct layers_diff_line line;
    row_table_init(&table, &layers_diff_type, page, &(struct field_context){0});
    for (size_t i = 0; i < line_count(report); i++) {
        make_line(report, i, &line);
        row_table_add(&table, &line);
    }
    diff_title(page, "By module: activations");
    table_print(&table.table, page, 2);
    return row_table_finish(&table);
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
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, &layers_diff_type, err))
        return false;
    for (size_t i = 0; i < line_count(report); i++) {
        struct layers_diff_line line;
        make_line(report, i, &line);
        if (!record_put_row(&csv, &line, &(struct field_context){0}, err)) {
            records_release(&csv);
            return false;
        }
    }
    return records_end(&csv, err);
}

bool layers_diff_json(FILE *out, const struct layers_diff_report *report)
{
    const struct layers_report *a = report->diff->reports[0], *b = report->diff->reports[1];
    const int64_t activations[2] = {a->total_activations, b->total_activations};
    const struct diff_sum_row all = {
        .amounts = {{activations[0], activations[1]},
                    {a->trace->forward_count, b->trace->forward_count}},
        .category = CATEGORY_ACTIVATION,
    };
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", DIFF_SCHEMA);
    json_put_string(&json, "format", "layer-trace");
    json_put_string(&json, "at", "forward");
    json_put_input(&json, "a_input", NULL, &report->inputs[0]);
    json_put_input(&json, "b_input", NULL, &report->inputs[1]);
    diff_json_bytes(&json, activations);
    diff_json_figure(&json, "peak_allocated", a->allocated.bytes, b->allocated.bytes);
    diff_json_figure(&json, "peak_reserved", a->reserved.bytes, b->reserved.bytes);
    diff_json_figure(&json, "peak_gathered", a->gathered.bytes, b->gathered.bytes);
    diff_json_figure(&json, "parameters", a->nodes[0].params, b->nodes[0].params);
    diff_json_limit(&json, &report->limit);
    diff_json_words(&json, "summary", &report->diff->summary, NULL);
    json_put_open(&json, "sites", '[');
    for (size_t i = 0; i < line_count(report); i++) {
        struct layers_diff_line line;
        make_line(report, i, &line);
        json_put_row(&json, NULL, &layers_diff_type, &line, &(struct field_context){0});
    }
    json_put_close(&json, ']');
    json_put_rows(&json, diff_sum_type(DIFF_BY_CATEGORY), &all, 1, &(struct field_context){0});
    diff_json_words(&json, "warnings", &report->diff->warnings, NULL);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
