#include "render/layers/operator_curves.h"

#include <string.h>

#include "render/core/input_line.h"
#include "render/core/rows.h"
#include "render/core/table.h"

#define SCHEMA "memsnap.operators/1"

/* Name of the operator at a point. context->user is the struct operator_curves. */
static struct value name_of(uint32_t point, const struct field_context *context)
{
    return value_count(((const struct operator_curves *)context->user)->points[point].name);
}

/* A maximum. */
struct curves_peak {
    int64_t peak_bytes;
    uint32_t point;
};

static struct value peak_name(const void *row, const struct field_context *context)
{
    return name_of(((const struct curves_peak *)row)->point, context);
}

#define ROW struct curves_peak
static const struct row_type peak_type =
    ROW_TYPE("peak", ROW, FIELD(ROW, BYTES, peak_bytes), FIELD_CALL(MODULE, "operator", peak_name),
             FIELD_AS(ROW, NUMBER, "index", point));
#undef ROW

static struct value span_peak(const void *row, const struct field_context *context)
{
    const struct operator_curves *curves = context->user;
    return value_integer(curves->points[((const struct curves_span *)row)->peak].allocated);
}

static struct value span_name(const void *row, const struct field_context *context)
{
    return name_of(((const struct curves_span *)row)->peak, context);
}

#define ROW struct curves_span
static const struct row_type span_type =
    ROW_TYPE("spans", ROW, FIELD(ROW, MODULE, marker), FIELD(ROW, NUMBER, from),
             FIELD(ROW, NUMBER, to), FIELD_CALL(BYTES, "peak_bytes", span_peak),
             FIELD_CALL(MODULE, "operator", span_name), FIELD_AS(ROW, NUMBER, "index", peak));
#undef ROW

static struct value growth_name(const void *row, const struct field_context *context)
{
    return name_of(((const struct curves_growth *)row)->point, context);
}

#define ROW struct curves_growth
static const struct row_type growth_type =
    ROW_TYPE("operators", ROW, FIELD_CALL(MODULE, "operator", growth_name),
             FIELD_AS(ROW, NUMBER, "index", point), FIELD_AS(ROW, BYTES, "growth_bytes", bytes));
#undef ROW

static void put_peak(struct json_writer *json, const char *key, uint32_t point, int64_t bytes,
                     const struct field_context *context)
{
    json_put_row(json, key, &peak_type, &(struct curves_peak){bytes, point}, context);
}

bool curves_json(FILE *out, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    const struct operator_curves *curves = report->curves;
    const struct field_context context = {.symbols = curves->symbols, .user = curves};
    const struct input_line input = {
        .path = analysis->path,
        .bytes = curves->input_bytes,
        .encoding = ENCODING_PICKLE,
        .protocol = curves->protocol,
        .compression = curves->compression,
    };
    size_t growths = report->growth_count;
    if (analysis->top && growths > analysis->top)
        growths = analysis->top;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_input(&json, "input", "operator-curves", &input);
    json_put_count(&json, "operator_count", curves->count);
    json_put_count(&json, "num_alloc_retries", curves->num_alloc_retries);
    if (curves->count > 0) {
        const struct operator_point *points = curves->points;
        put_peak(&json, "allocated", report->allocated, points[report->allocated].allocated,
                 &context);
        put_peak(&json, "active", report->active, points[report->active].active, &context);
        put_peak(&json, "reserved", report->reserved, points[report->reserved].reserved, &context);
    }
    json_put_rows(&json, &span_type, report->spans, report->span_count, &context);
    json_put_rows(&json, &growth_type, report->growths, growths, &context);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

#define INDENT     2
#define NAME_LEAST 24 /* columns for an operator */

static void title(const struct page *page, size_t indent, const char *text)
{
    fprintf(page->out, "\n%*s%s", (int)indent, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, indent, INDENT, text);
    fputs(page_plain(page), page->out);
}

static bool finish(struct table *table, const struct page *page)
{
    table_print(table, page, INDENT);
    bool ok = !table_failed(table);
    table_release(table);
    return ok;
}

static void add_size(struct table *table, const struct page *page, int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, text, bytes));
}

static void add_point(struct table *table, const struct operator_curves *curves, uint32_t point)
{
    char text[UNITS_TEXT_SIZE];
    struct text name = symbols_text(curves->symbols, curves->points[point].name);
    table_add(table, units_count(text, point));
    table_add_input(table, name.bytes, name.size);
}

static bool peaks(const struct page *page, const struct curves_report *report)
{
    static const struct table_column columns[] = {
        {"", .kind = COLUMN_LABEL},
        {.title = "peak"},
        {.title = "number", .optional = 1},
        {"after operator", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 0},
    };
    const struct operator_point *points = report->curves->points;
    struct table table;
    table_init(&table, columns, 4);
    table_add(&table, "allocated");
    add_size(&table, page, points[report->allocated].allocated);
    add_point(&table, report->curves, report->allocated);
    table_add(&table, "active");
    add_size(&table, page, points[report->active].active);
    add_point(&table, report->curves, report->active);
    table_add(&table, "reserved");
    add_size(&table, page, points[report->reserved].reserved);
    add_point(&table, report->curves, report->reserved);
    return finish(&table, page);
}

static bool spans(const struct page *page, const struct curves_report *report)
{
    static const struct table_column columns[] = {
        {.title = "operators"},
        {.title = "peak"},
        {.title = "number", .optional = 2},
        {"after operator", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 1},
        {"from marker", COLUMN_TEXT, CUT_END, 8, 0},
    };
    const struct operator_curves *curves = report->curves;
    char text[UNITS_TEXT_SIZE];
    struct table table;
    title(page, INDENT, "Allocated, from marker to marker");
    table_init(&table, columns, 5);
    for (size_t i = 0; i < report->span_count; i++) {
        const struct curves_span *span = &report->spans[i];
        struct text marker = symbols_text(curves->symbols, span->marker);
        table_add(&table, units_count(text, span->to - span->from));
        add_size(&table, page, curves->points[span->peak].allocated);
        add_point(&table, curves, span->peak);
        table_add_input(&table, marker.size ? marker.bytes : "(start)",
                        marker.size ? marker.size : 7);
    }
    return finish(&table, page);
}

static bool growths(const struct page *page, const struct curves_analysis *analysis)
{
    static const struct table_column columns[] = {
        {.title = "growth"},
        {.title = "number", .optional = 1},
        {"operator", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 0},
    };
    const struct curves_report *report = analysis->report;
    size_t count = report->growth_count;
    struct table table;
    if (analysis->top && count > analysis->top)
        count = analysis->top;
    if (count == 0)
        return true;
    title(page, INDENT, "Operators with the largest increase in allocated memory");
    table_init(&table, columns, 3);
    for (size_t i = 0; i < count; i++) {
        add_size(&table, page, report->growths[i].bytes);
        add_point(&table, report->curves, report->growths[i].point);
    }
    return finish(&table, page);
}

bool curves_text(const struct page *page, const struct curves_analysis *analysis)
{
    const struct operator_curves *curves = analysis->report->curves;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = curves->input_bytes,
                                     .encoding = ENCODING_PICKLE,
                                     .protocol = curves->protocol,
                                     .compression = curves->compression};
    char text[3 * UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], retries[UNITS_TEXT_SIZE];
    if (!input_line(page, &input))
        return false;
    snprintf(text, sizeof(text), "MemoryTracker: %s operators, %s retried allocation%s",
             units_count(count, curves->count), units_count(retries, curves->num_alloc_retries),
             curves->num_alloc_retries == 1 ? "" : "s");
    title(page, 0, text);
    if (curves->num_alloc_retries > 0) {
        fprintf(page->out, "%*s", INDENT, "");
        page_paragraph(page, INDENT, INDENT,
                       "A retry empties the allocator's cache first, which is slow: the device "
                       "was as good as full.");
    }
    if (curves->count == 0)
        return true;
    return peaks(page, analysis->report) && spans(page, analysis->report) &&
           growths(page, analysis);
}
