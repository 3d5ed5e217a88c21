#include "render/layers/operator_curves.h"

#include "render/core/input_line.h"
#include "render/core/rows.h"
#include "render/layers/internal.h"

#define SCHEMA     "memsnap.operators/1"
#define INDENT     2
#define NAME_LEAST 24 /* columns for an operator */

/* A maximum, a span or an increase, and its operator. */
struct curves_row {
    const char *curve; /* the curve of a maximum: "allocated" */
    int64_t bytes;
    uint32_t point;
    string_id marker;             /* marker of a span, like the next members */
    uint32_t from, to, operators; /* operators: to - from */
};

/* context->user is the struct operator_curves. */
static struct value operator_name(const void *data, const struct field_context *context)
{
    const struct operator_curves *curves = context->user;
    const struct curves_row *row = data;
    return (struct value){VALUE_TEXT,
                          .text = symbols_text(curves->symbols, curves->points[row->point].name)};
}

#define ROW struct curves_row
#define OPERATOR(...)                                                                              \
    FIELD_CALL(TEXT, "operator", operator_name, .cut = CUT_MIDDLE, .least = NAME_LEAST,            \
               .column = 2, __VA_ARGS__)
#define INDEX(optional_)                                                                           \
    FIELD_AS(ROW, COUNT, "index", point, .title = "number", .optional = optional_, .column = 1)
static const struct row_type peak_type =
    ROW_TYPE("peak", ROW, FIELD_AS(ROW, WORD, NULL, curve, .title = ""),
             FIELD_AS(ROW, BYTES, "peak_bytes", bytes, .title = "peak"),
             OPERATOR(.title = "after operator"), INDEX(1));
static const struct row_type span_type =
    ROW_TYPE("spans", ROW, FIELD(ROW, MODULE, marker), FIELD(ROW, NUMBER, from),
             FIELD(ROW, NUMBER, to), FIELD_AS(ROW, COUNT, NULL, operators, .title = "operators"),
             FIELD_AS(ROW, BYTES, "peak_bytes", bytes, .title = "peak"),
             OPERATOR(.title = "after operator", .optional = 1), INDEX(2),
             FIELD_AS(ROW, STRING, NULL, marker, .title = "from marker", .absent = "(start)",
                      .least = 8, .column = 3));
static const struct row_type growth_type =
    ROW_TYPE("operators", ROW, OPERATOR(.title = "operator"), INDEX(1),
             FIELD_AS(ROW, BYTES, "growth_bytes", bytes, .title = "growth"));
#undef ROW

#define PEAKS 3

static struct curves_row peak_row(const struct curves_report *report, size_t i)
{
    const struct operator_point *points = report->curves->points;
    switch (i) {
    case 0:
        return (struct curves_row){.curve = "allocated",
                                   .bytes = points[report->allocated].allocated,
                                   .point = report->allocated};
    case 1:
        return (struct curves_row){
            .curve = "active", .bytes = points[report->active].active, .point = report->active};
    default:
        return (struct curves_row){.curve = "reserved",
                                   .bytes = points[report->reserved].reserved,
                                   .point = report->reserved};
    }
}

static struct curves_row span_row(const struct curves_report *report, size_t i)
{
    const struct curves_span *span = &report->spans[i];
    return (struct curves_row){.bytes = report->curves->points[span->peak].allocated,
                               .point = span->peak,
                               .marker = span->marker,
                               .from = span->from,
                               .to = span->to,
                               .operators = span->to - span->from};
}

static struct curves_row growth_row(const struct curves_report *report, size_t i)
{
    return (struct curves_row){.bytes = report->growths[i].bytes,
                               .point = report->growths[i].point};
}

static size_t growth_count(const struct curves_analysis *analysis)
{
    size_t count = analysis->report->growth_count;
    return analysis->top && count > analysis->top ? analysis->top : count;
}

static struct field_context context_of(const struct curves_report *report)
{
    return (struct field_context){.symbols = report->curves->symbols, .user = report->curves};
}

static struct input_line input_of(const struct curves_analysis *analysis)
{
    const struct operator_curves *curves = analysis->report->curves;
    return (struct input_line){.path = analysis->path,
                               .bytes = curves->input_bytes,
                               .encoding = ENCODING_PICKLE,
                               .protocol = curves->protocol,
                               .compression = curves->compression};
}

/* An array of `count` rows that `row` makes. */
static void put_rows(struct json_writer *json, const struct row_type *type,
                     const struct curves_report *report, size_t count,
                     struct curves_row (*row)(const struct curves_report *report, size_t i))
{
    const struct field_context context = context_of(report);
    json_put_open(json, type->name, '[');
    for (size_t i = 0; i < count; i++) {
        const struct curves_row made = row(report, i);
        json_put_row(json, NULL, type, &made, &context);
    }
    json_put_close(json, ']');
}

bool curves_json(FILE *out, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    const struct operator_curves *curves = report->curves;
    const struct field_context context = context_of(report);
    const struct input_line input = input_of(analysis);
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_input(&json, "input", "operator-curves", &input);
    json_put_count(&json, "operator_count", curves->count);
    json_put_count(&json, "num_alloc_retries", curves->num_alloc_retries);
    for (size_t i = 0; i < PEAKS && curves->count > 0; i++) {
        const struct curves_row peak = peak_row(report, i);
        json_put_row(&json, peak.curve, &peak_type, &peak, &context);
    }
    put_rows(&json, &span_type, report, report->span_count, span_row);
    put_rows(&json, &growth_type, report, growth_count(analysis), growth_row);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

/* A table of `count` rows that `row` makes, after a title if there is one. */
static bool print_rows(const struct page *page, const char *title, const struct row_type *type,
                       const struct curves_report *report, size_t count,
                       struct curves_row (*row)(const struct curves_report *report, size_t i))
{
    const struct field_context context = context_of(report);
    struct row_table table;
    if (title)
        layers_title(page, INDENT, title);
    row_table_init(&table, type, page, &context);
    for (size_t i = 0; i < count; i++) {
        const struct curves_row made = row(report, i);
        row_table_add(&table, &made);
    }
    return row_table_print(&table, page, INDENT);
}

bool curves_text(const struct page *page, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    const struct operator_curves *curves = report->curves;
    const struct input_line input = input_of(analysis);
    char text[3 * UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], retries[UNITS_TEXT_SIZE];
    if (!input_line(page, &input))
        return false;
    snprintf(text, sizeof(text), "MemoryTracker: %s operators, %s retried allocation%s",
             units_count(count, curves->count), units_count(retries, curves->num_alloc_retries),
             curves->num_alloc_retries == 1 ? "" : "s");
    layers_title(page, 0, text);
    if (curves->num_alloc_retries > 0) {
        fprintf(page->out, "%*s", INDENT, "");
        page_paragraph(page, INDENT, INDENT,
                       "A retry empties the allocator's cache first, which is slow: the device "
                       "was nearly full.");
    }
    if (curves->count == 0)
        return true;
    size_t growths = growth_count(analysis);
    return print_rows(page, NULL, &peak_type, report, PEAKS, peak_row) &&
           print_rows(page, "Allocated, from marker to marker", &span_type, report,
                      report->span_count, span_row) &&
           (growths == 0 ||
            print_rows(page, "Operators with the largest increase in allocated memory",
                       &growth_type, report, growths, growth_row));
}
