#include "render/diff/rows.h"

#include <string.h>

#include "model/device.h"

struct value diff_delta_of(const void *row, const struct field_context *context)
{
    const struct diff_amounts *amounts = row;
    (void)context;
    return value_integer(diff_delta(amounts->bytes[0], amounts->bytes[1]));
}

bool diff_has_a(const void *row, const struct field_context *context)
{
    const struct diff_amounts *amounts = row;
    (void)context;
    return amounts->count[0] != 0 || amounts->bytes[0] != 0;
}

bool diff_has_b(const void *row, const struct field_context *context)
{
    const struct diff_amounts *amounts = row;
    (void)context;
    return amounts->count[1] != 0 || amounts->bytes[1] != 0;
}

struct value diff_counts_text(const void *row, const struct field_context *context)
{
    const struct diff_amounts *amounts = row;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
    buffer_puts(context->scratch, units_count(a, amounts->count[0]));
    if (amounts->count[0] != amounts->count[1])
        buffer_printf(context->scratch, " > %s", units_count(b, amounts->count[1]));
    return value_scratch(context);
}

static struct value device_a(const void *row, const struct field_context *context)
{
    (void)row;
    return value_integer(device_number(((const struct diff *)context->user)->sides[0].device));
}

static struct value device_b(const void *row, const struct field_context *context)
{
    (void)row;
    return value_integer(device_number(((const struct diff *)context->user)->sides[1].device));
}

static bool category_changed(const void *data, const struct field_context *context)
{
    const struct diff_line *line = &((const struct diff_site_row *)data)->line;
    (void)context;
    return !line->is_remainder && line->was_category != line->category;
}

/* The end of a label that has the same beginning as another, up to the line number: "39 forward".
 */
static const char *only_line_differs(const char *was, const char *now)
{
    const char *a = strrchr(was, ':'), *b = strrchr(now, ':');
    if (!a || !b || a - was != b - now || memcmp(was, now, (size_t)(a - was)) != 0)
        return NULL;
    const char *rest_a = strchr(a, ' '), *rest_b = strchr(b, ' ');
    return rest_a && rest_b && strcmp(rest_a, rest_b) == 0 ? a + 1 : NULL;
}

/* "model.py:42 forward (line 39 in A)", "model.py:42 forward (1 place, then 3)" */
static void add_label(struct buffer *text, const struct diff_line *line)
{
    buffer_puts(text, line->label.brief);
    if (line->row.sites[0] > 1 || line->row.sites[1] > 1) {
        if (!line->is_remainder)
            buffer_printf(text, " (%u place%s, then %u)", line->row.sites[0],
                          line->row.sites[0] == 1 ? "" : "s", line->row.sites[1]);
    } else if (line->was.full) {
        const char *number = only_line_differs(line->was.brief, line->label.brief);
        if (number)
            buffer_printf(text, " (line %.*s in A)", (int)strcspn(number, " "), number);
        else
            buffer_printf(text, " (%s in A)", line->was.brief);
    }
}

static struct value site_words(const void *data, const struct field_context *context)
{
    const struct diff_site_row *row = data;
    const struct diff_sites_text *text = context->user;
    struct text op = site_operator_text(context->symbols, &row->line.site);
    add_label(context->scratch, &row->line);
    if (text->alike && text->alike[row->index] && !row->line.is_remainder && op.size > 0) {
        buffer_puts(context->scratch, " [");
        buffer_add(context->scratch, op.bytes, op.size);
        buffer_putc(context->scratch, ']');
    }
    return value_scratch(context);
}

static bool has_operator_column(const void *data, const struct field_context *context)
{
    const struct diff_sites_text *text = context->user;
    return !((const struct diff_site_row *)data)->line.is_remainder && !text->alike;
}

/* JSON and records: context->user is the struct diff. */
#define DEVICES                                                                                    \
    FIELD_CALL(NUMBER, "a_device", device_a, .flags = FIELD_NOT_JSON),                             \
        FIELD_CALL(NUMBER, "b_device", device_b, .flags = FIELD_NOT_JSON)

#define ROW struct diff_site_row
const struct row_type diff_site_type = ROW_TYPE(
    "sites", ROW, DEVICES, FIELD_AS(ROW, SITE, "label", line.label),
    FIELD_AS(ROW, SITE, "a_label", line.was), DIFF_AMOUNTS(ROW, "count", 2, 1, 3),
    FIELD_CALL(LABEL, NULL, site_words, .title = "call site", .cut = CUT_OPERATOR,
               .least = CALL_SITE_LEAST),
    FIELD_AS(ROW, NAME, "change", line.change, .name = diff_change_name, .cell = 2),
    FIELD_AS(ROW, NAME, "matched_by", line.row.matched, .name = diff_matched_name, .cell = 2),
    FIELD_AS(ROW, COUNT, "a_sites", line.row.sites[0], .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, COUNT, "b_sites", line.row.sites[1], .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, FLAG, "remainder", line.is_remainder,
             .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD),
    FIELD_AS(ROW, OPERATOR, NULL, line.site, .present = has_operator_column, .title = "operator",
             .optional = 4),
    FIELD_AS(ROW, CATEGORY, "category", line.category, UNLESS(ROW, line.is_remainder),
             .title = "category", .cell = 1),
    FIELD_AS(ROW, CATEGORY, "a_category", line.was_category, .present = category_changed,
             .flags = FIELD_NOT_RECORD),
    FIELD_AS(ROW, OPERATOR, "op", line.site, UNLESS(ROW, line.is_remainder)),
    FIELD_AS(ROW, FRAMES, "frames", line.row.stack, UNLESS(ROW, line.is_remainder),
             .flags = FIELD_NOT_RECORD));
#undef ROW

#define ROW struct diff_sum_row
static const struct row_type category_type = ROW_TYPE(
    "categories", ROW, DEVICES,
    FIELD_AS(ROW, CATEGORY, "name", category, .title = "", .column = 1, .flags = FIELD_NOT_RECORD),
    FIELD(ROW, CATEGORY, category, .flags = FIELD_NOT_JSON), DIFF_AMOUNTS(ROW, "count", 1, 0, 2));
static const struct row_type phase_type = ROW_TYPE(
    "phases", ROW, DEVICES,
    FIELD_AS(ROW, WORD, "name", phase, .title = "", .column = 1, .flags = FIELD_NOT_RECORD),
    FIELD(ROW, WORD, phase, .flags = FIELD_NOT_JSON), DIFF_AMOUNTS(ROW, "count", 1, 0, 2));
static const struct row_type annotation_type = ROW_TYPE(
    "annotations", ROW, DEVICES,
    FIELD_AS(ROW, LABEL, "name", annotation, .title = "", .column = 1, .cut = CUT_END,
             .least = CALL_SITE_LEAST, .flags = FIELD_NOT_RECORD),
    FIELD(ROW, LABEL, annotation, .flags = FIELD_NOT_JSON), DIFF_AMOUNTS(ROW, "count", 1, 0, 2),
    FIELD_AS(ROW, FLAG, "remainder", is_remainder, .flags = FIELD_SKIP_ZERO | FIELD_NOT_RECORD));
#undef ROW

#define ROW struct diff_figure
const struct row_type diff_figure_type =
    ROW_TYPE("figures", ROW, FIELD_CALL(CHANGE, NULL, diff_delta_of, .title = "change"),
             FIELD_AS(ROW, BYTES, NULL, amounts.bytes[0], .title = "A", .optional = 1),
             FIELD_AS(ROW, BYTES, NULL, amounts.bytes[1], .title = "B"),
             FIELD_AS(ROW, WORD, NULL, name, .title = ""));
#undef ROW

static struct value setting_value(const struct diff_setting_row *row, int side,
                                  const struct field_context *context)
{
    if (!row->present[side])
        return value_none();
    if (context->page && row->values[side] == STRING_EMPTY)
        return value_word("(empty)");
    return value_count(row->values[side]);
}

static struct value setting_a(const void *row, const struct field_context *context)
{
    return setting_value(row, 0, context);
}

static struct value setting_b(const void *row, const struct field_context *context)
{
    return setting_value(row, 1, context);
}

#define ROW struct diff_setting_row
const struct row_type diff_setting_type =
    ROW_TYPE("settings", ROW,
             FIELD(ROW, STRING, key, .title = "allocator setting", .column = 1, .least = 16),
             FIELD_CALL(STRING, "a", setting_a, .title = "A", .least = 8, .absent = "-"),
             FIELD_CALL(STRING, "b", setting_b, .title = "B", .least = 8, .absent = "-"));
#undef ROW

void diff_site_row(const struct diff *diff, size_t line, struct diff_site_row *row)
{
    *row = (struct diff_site_row){.line = diff->lines[line], .index = line};
    for (int side = 0; side < 2; side++) {
        row->amounts.bytes[side] = row->line.row.bytes[side];
        row->amounts.count[side] = row->line.row.count[side];
    }
}

const struct row_type *diff_sum_type(enum diff_by by)
{
    return by == DIFF_BY_CATEGORY ? &category_type
           : by == DIFF_BY_PHASE  ? &phase_type
                                  : &annotation_type;
}

size_t diff_sum_count(const struct diff *diff, enum diff_by by)
{
    return by == DIFF_BY_CATEGORY ? diff->category_count
           : by == DIFF_BY_PHASE  ? diff->phase_count
                                  : diff->annotation_count;
}

void diff_sum_row(const struct diff *diff, enum diff_by by, size_t i, struct diff_sum_row *row)
{
    const struct diff_sum *sums;
    *row = (struct diff_sum_row){0};
    if (by == DIFF_BY_CATEGORY) {
        row->category = (enum category)diff->categories[i].what;
        sums = diff->categories[i].sums;
    } else if (by == DIFF_BY_PHASE) {
        row->phase = diff_phase_name(diff->phases[i].what);
        sums = diff->phases[i].sums;
    } else {
        row->annotation = diff->annotations[i].name;
        row->is_remainder = diff->annotations[i].is_remainder;
        sums = diff->annotations[i].sums;
    }
    for (int side = 0; side < 2; side++) {
        row->amounts.bytes[side] = sums[side].bytes;
        row->amounts.count[side] = sums[side].count;
    }
}

static bool put_device(struct record_writer *csv, const struct diff *diff, enum diff_by by,
                       struct error *err)
{
    const struct field_context context = {.symbols = diff->symbols, .user = diff};
    bool sums = by > DIFF_BY_SITE, ok = true;
    size_t count = sums ? diff_sum_count(diff, by) : diff->line_count;
    for (size_t i = 0; ok && i < count; i++) {
        struct diff_site_row site;
        struct diff_sum_row sum;
        if (sums)
            diff_sum_row(diff, by, i, &sum);
        else
            diff_site_row(diff, i, &site);
        ok = record_put_row(csv, sums ? (const void *)&sum : &site, &context, err);
    }
    return ok;
}

bool diff_csv(FILE *out, const struct diff_report *report, struct error *err)
{
    const struct row_type *type =
        report->by > DIFF_BY_SITE ? diff_sum_type(report->by) : &diff_site_type;
    struct record_writer csv;
    if (!records_begin(&csv, out, RECORDS_CSV, type, err))
        return false;
    for (size_t i = 0; i < report->device_count; i++)
        if (!put_device(&csv, report->devices[i].diff, report->by, err)) {
            records_release(&csv);
            return false;
        }
    return records_end(&csv, err);
}
