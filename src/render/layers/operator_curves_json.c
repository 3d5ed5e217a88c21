#include "render/core/input_line.h"
#include "render/core/rows.h"
#include "render/layers/operator_curves.h"

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
