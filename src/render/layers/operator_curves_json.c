#include "render/core/json.h"
#include "render/layers/operator_curves.h"

#define SCHEMA "memsnap.operators/1"

static void put_input(struct json_writer *json, const struct curves_analysis *analysis)
{
    const struct operator_curves *curves = analysis->report->curves;
    json_put_open(json, "input", '{');
    json_put_string(json, "path", analysis->path);
    json_put_string(json, "format", "operator-curves");
    if (curves->input_bytes)
        json_put_count(json, "bytes", curves->input_bytes);
    json_put_string(json, "encoding", "pickle");
    json_put_integer(json, "protocol", curves->protocol);
    json_put_string(json, "compression", curves->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(json, '}');
}

static void put_operator(struct json_writer *json, const struct operator_curves *curves,
                         uint32_t point)
{
    json_put_text(json, "operator", symbols_text(curves->symbols, curves->points[point].name));
    json_put_count(json, "index", point);
}

static void put_peak(struct json_writer *json, const char *key,
                     const struct operator_curves *curves, uint32_t point, int64_t bytes)
{
    json_put_open(json, key, '{');
    json_put_integer(json, "peak_bytes", bytes);
    put_operator(json, curves, point);
    json_put_close(json, '}');
}

static void put_spans(struct json_writer *json, const struct curves_report *report)
{
    const struct operator_curves *curves = report->curves;
    json_put_open(json, "spans", '[');
    for (size_t i = 0; i < report->span_count; i++) {
        const struct curves_span *span = &report->spans[i];
        json_put_open(json, NULL, '{');
        json_put_text(json, "marker", symbols_text(curves->symbols, span->marker));
        json_put_count(json, "from", span->from);
        json_put_count(json, "to", span->to);
        json_put_integer(json, "peak_bytes", curves->points[span->peak].allocated);
        put_operator(json, curves, span->peak);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_growths(struct json_writer *json, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    size_t count = report->growth_count;
    if (analysis->top && count > analysis->top)
        count = analysis->top;
    json_put_open(json, "operators", '[');
    for (size_t i = 0; i < count; i++) {
        json_put_open(json, NULL, '{');
        put_operator(json, report->curves, report->growths[i].point);
        json_put_integer(json, "growth_bytes", report->growths[i].bytes);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

bool curves_json(FILE *out, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    const struct operator_curves *curves = report->curves;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    json_put_count(&json, "operator_count", curves->count);
    json_put_count(&json, "num_alloc_retries", curves->num_alloc_retries);
    if (curves->count > 0) {
        const struct operator_point *points = curves->points;
        put_peak(&json, "allocated", curves, report->allocated,
                 points[report->allocated].allocated);
        put_peak(&json, "active", curves, report->active, points[report->active].active);
        put_peak(&json, "reserved", curves, report->reserved, points[report->reserved].reserved);
    }
    put_spans(&json, report);
    put_growths(&json, analysis);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
