/* The comparison of summaries, as text, JSON and CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/device.h"
#include "render/diff/rows.h"

/* A call site that changed, or the sum of those that are not listed. */
struct summaries_diff_line {
    struct diff_amounts amounts;
    struct summaries_diff_row row;
    bool is_remainder; /* row.site is `label` */
    char label[UNITS_TEXT_SIZE + 64];
    const char *change;
};

static size_t shown(const struct summaries_diff_report *report)
{
    size_t changed = report->diff->changed;
    return report->top > 0 && report->top < changed ? report->top : changed;
}

static size_t line_count(const struct summaries_diff_report *report)
{
    const struct summaries_diff *diff = report->diff;
    return shown(report) + (shown(report) < diff->changed) + (diff->changed < diff->count);
}

static const char *change_of(const struct summaries_diff_line *line)
{
    int64_t a = line->amounts.bytes[0], b = line->amounts.bytes[1];
    if (!line->is_remainder && (!line->row.present[0] || !line->row.present[1]))
        return diff_change_name(line->row.present[1] ? DIFF_NEW : DIFF_GONE);
    return diff_change_name(a == b ? DIFF_SAME : a < b ? DIFF_GROWN : DIFF_SHRUNK);
}

static void add_row(struct diff_amounts *amounts, const struct summaries_diff_row *row)
{
    for (int side = 0; side < 2; side++) {
        amounts->bytes[side] += row->sums[side].bytes;
        amounts->count[side] += row->sums[side].count;
    }
}

/* Line `i`: the call sites that changed, then what a limit cut, then what did not change. */
static void make_line(const struct summaries_diff_report *report, size_t i,
                      struct summaries_diff_line *line)
{
    const struct summaries_diff *diff = report->diff;
    char count[UNITS_TEXT_SIZE];
    *line = (struct summaries_diff_line){.is_remainder = i >= shown(report)};
    if (!line->is_remainder) {
        line->row = diff->rows[i];
        add_row(&line->amounts, &line->row);
    } else {
        bool cut = i == shown(report) && shown(report) < diff->changed;
        size_t first = cut ? shown(report) : diff->changed, end = cut ? diff->changed : diff->count;
        for (size_t k = first; k < end; k++)
            add_row(&line->amounts, &diff->rows[k]);
        snprintf(line->label, sizeof(line->label), "(%s %scall site%s%s)",
                 units_count(count, end - first), cut ? "more " : "", end - first == 1 ? "" : "s",
                 cut ? "" : " without a change");
        line->row =
            (struct summaries_diff_row){.site = line->label, .was = "", .op = "", .category = ""};
    }
    line->change = change_of(line);
}

static struct value matched_by(const void *data, const struct field_context *context)
{
    const struct summaries_diff_line *line = data;
    bool both = line->row.present[0] && line->row.present[1] && !line->is_remainder;
    (void)context;
    return value_word(diff_matched_name(!both               ? DIFF_BY_NOTHING
                                        : line->row.by_line ? DIFF_BY_STACK
                                                            : DIFF_BY_FUNCTION));
}

static struct value label(const void *data, const struct field_context *context)
{
    const struct summaries_diff_row *row = &((const struct summaries_diff_line *)data)->row;
    buffer_puts(context->scratch, row->site);
    if (*row->op)
        buffer_printf(context->scratch, " [%s]",
                      strncmp(row->op, "aten::", 6) == 0 ? row->op + 6 : row->op);
    if (*row->was)
        buffer_printf(context->scratch, " (in A %s)", row->was);
    return value_scratch(context);
}

#define ROW struct summaries_diff_line
static const struct row_type summaries_diff_type = ROW_TYPE(
    "sites", ROW, FIELD_AS(ROW, LABEL, "label", row.site),
    FIELD_AS(ROW, LABEL, "a_label", row.was, .flags = FIELD_SKIP_ZERO),
    DIFF_AMOUNTS(ROW, "allocations", 2, 1, 4),
    FIELD_AS(ROW, LABEL, "category", row.category, .title = "category", .optional = 3),
    FIELD_AS(ROW, LABEL, "op", row.op),
    FIELD_CALL(LABEL, NULL, label, .title = "call site", .cut = CUT_OPERATOR, .least = 34),
    FIELD(ROW, WORD, change), FIELD_CALL(WORD, "matched_by", matched_by, .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, FLAG, "remainder", is_remainder, .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD));
#undef ROW

static int64_t change_of_sum(const struct diff_sum_row *row)
{
    return diff_magnitude(diff_delta(row->amounts.bytes[0], row->amounts.bytes[1]));
}

static int largest_first(const void *left, const void *right)
{
    const struct diff_sum_row *a = left, *b = right;
    if (change_of_sum(a) != change_of_sum(b))
        return change_of_sum(a) > change_of_sum(b) ? -1 : 1;
    return (a->category > b->category) - (a->category < b->category);
}

/* The categories that a side has, the largest change first. Returns their number. */
static size_t list_categories(const struct summaries_diff *diff,
                              struct diff_sum_row rows[CATEGORY_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        const struct diff_sum *a = &diff->categories[0][i], *b = &diff->categories[1][i];
        if (a->bytes != 0 || b->bytes != 0)
            rows[count++] =
                (struct diff_sum_row){.amounts = {{a->bytes, b->bytes}, {a->count, b->count}},
                                      .category = (enum category)i};
    }
    if (count > 0)
        qsort(rows, count, sizeof(*rows), largest_first);
    return count;
}

static bool categories(const struct page *page, const struct summaries_diff *diff)
{
    struct row_table table;
    struct diff_sum_row rows[CATEGORY_COUNT];
    size_t count = list_categories(diff, rows);
    row_table_init(&table, diff_sum_type(DIFF_BY_CATEGORY), page, &(struct field_context){0});
    for (size_t i = 0; i < count; i++)
        row_table_add(&table, &rows[i]);
    diff_title(page, "By category");
    return row_table_print(&table, page, 2);
}

static bool sites(const struct page *page, const struct summaries_diff_report *report)
{
    struct row_table table;
    struct summaries_diff_line line;
    row_table_init(&table, &summaries_diff_type, page, &(struct field_context){0});
    for (size_t i = 0; i < line_count(report); i++) {
        make_line(report, i, &line);
        row_table_add(&table, &line);
    }
    diff_title(page, "By call site");
    return row_table_print(&table, page, 2);
}

static bool has_steps(const struct summaries_diff *diff)
{
    return diff->steps[0].count > 0 && diff->steps[1].count > 0;
}

static bool figures(const struct page *page, const struct summaries_diff *diff)
{
    const struct summary_device *a = diff->devices[0], *b = diff->devices[1];
    struct diff_figure rows[6];
    size_t count = 0;
    rows[count++] = diff_figure("peak active", a->peak_bytes, b->peak_bytes);
    rows[count++] = diff_figure("peak reserved", a->reserved_peak_bytes, b->reserved_peak_bytes);
    rows[count++] = diff_figure("active at the end", a->end_bytes, b->end_bytes);
    if (a->unused_bytes != SUMMARY_UNKNOWN && b->unused_bytes != SUMMARY_UNKNOWN)
        rows[count++] = diff_figure("unused at the peak", a->unused_bytes, b->unused_bytes);
    if (has_steps(diff)) {
        const struct summary_step_figures *steps = diff->steps;
        rows[count++] = diff_figure("median peak of a step", steps[0].median_peak_bytes,
                                    steps[1].median_peak_bytes);
        rows[count++] = diff_figure("median after a step", steps[0].median_end_bytes,
                                    steps[1].median_end_bytes);
    }
    return diff_figures_text(page, rows, count);
}

bool summaries_diff_text(const struct page *page, const struct summaries_diff_report *report)
{
    const struct summaries_diff *diff = report->diff;
    for (int side = 0; side < 2; side++)
        if (!input_line(page, &report->inputs[side]))
            return false;
    diff_title(page, "Live memory at the peaks");
    return diff_paragraphs(page, STYLE_TITLE, "", &diff->summary) &&
           diff_limit_text(page, &report->limit) &&
           diff_paragraphs(page, STYLE_WARNING, "warning:", &diff->warnings) &&
           figures(page, diff) && categories(page, diff) &&
           (diff->count == 0 || sites(page, report));
}

bool summaries_diff_csv(FILE *out, const struct summaries_diff_report *report, struct error *err)
{
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, &summaries_diff_type, err))
        return false;
    for (size_t i = 0; i < line_count(report); i++) {
        struct summaries_diff_line line;
        make_line(report, i, &line);
        if (!record_put_row(&csv, &line, &(struct field_context){0}, err)) {
            records_release(&csv);
            return false;
        }
    }
    return records_end(&csv, err);
}

bool summaries_diff_json(FILE *out, const struct summaries_diff_report *report)
{
    const struct summary_device *a = report->diff->devices[0], *b = report->diff->devices[1];
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", DIFF_SCHEMA);
    json_put_string(&json, "format", "summary");
    json_put_string(&json, "at", "peak");
    json_put_input(&json, "a_input", NULL, &report->inputs[0]);
    json_put_input(&json, "b_input", NULL, &report->inputs[1]);
    diff_json_bytes(&json, (const int64_t[]){a->peak_bytes, b->peak_bytes});
    diff_json_figure(&json, "peak_reserved", a->reserved_peak_bytes, b->reserved_peak_bytes);
    diff_json_figure(&json, "end", a->end_bytes, b->end_bytes);
    if (has_steps(report->diff)) {
        const struct summary_step_figures *steps = report->diff->steps;
        diff_json_figure(&json, "median_step_peak", steps[0].median_peak_bytes,
                         steps[1].median_peak_bytes);
        diff_json_figure(&json, "median_step_end", steps[0].median_end_bytes,
                         steps[1].median_end_bytes);
    }
    diff_json_limit(&json, &report->limit);
    diff_json_words(&json, "summary", &report->diff->summary, NULL);
    json_put_open(&json, "sites", '[');
    for (size_t i = 0; i < line_count(report); i++) {
        struct summaries_diff_line line;
        make_line(report, i, &line);
        json_put_row(&json, NULL, &summaries_diff_type, &line, &(struct field_context){0});
    }
    json_put_close(&json, ']');
    struct diff_sum_row rows[CATEGORY_COUNT];
    size_t count = list_categories(report->diff, rows);
    json_put_rows(&json, diff_sum_type(DIFF_BY_CATEGORY), rows, count, &(struct field_context){0});
    diff_json_words(&json, "warnings", &report->diff->warnings, NULL);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
