#include "render/json.h"
#include "render/operator_curves.h"

#define SCHEMA "memsnap.operators/1"

static void put_input(struct json_writer *json, const struct curves_analysis *analysis)
{
    const struct operator_curves *curves = analysis->report->curves;
    emit_open(json, "input", '{');
    emit_word(json, "path", analysis->path);
    emit_word(json, "format", "operator-curves");
    if (curves->input_bytes)
        emit_count(json, "bytes", curves->input_bytes);
    emit_word(json, "encoding", "pickle");
    emit_integer(json, "protocol", curves->protocol);
    emit_word(json, "compression", curves->compression == COMPRESSION_GZIP ? "gzip" : "none");
    emit_close(json, '}');
}

static void put_operator(struct json_writer *json, const struct operator_curves *curves,
                         uint32_t point)
{
    emit_text(json, "operator", symbols_text(curves->symbols, curves->points[point].name));
    emit_count(json, "index", point);
}

static void put_peak(struct json_writer *json, const char *key,
                     const struct operator_curves *curves, uint32_t point, int64_t bytes)
{
    emit_open(json, key, '{');
    emit_integer(json, "peak_bytes", bytes);
    put_operator(json, curves, point);
    emit_close(json, '}');
}

static void put_spans(struct json_writer *json, const struct curves_report *report)
{
    const struct operator_curves *curves = report->curves;
    emit_open(json, "spans", '[');
    for (size_t i = 0; i < report->span_count; i++) {
        const struct curves_span *span = &report->spans[i];
        emit_open(json, NULL, '{');
        emit_text(json, "marker", symbols_text(curves->symbols, span->marker));
        emit_count(json, "from", span->from);
        emit_count(json, "to", span->to);
        emit_integer(json, "peak_bytes", curves->points[span->peak].allocated);
        put_operator(json, curves, span->peak);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_growths(struct json_writer *json, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    size_t count = report->growth_count;
    if (analysis->top && count > analysis->top)
        count = analysis->top;
    emit_open(json, "operators", '[');
    for (size_t i = 0; i < count; i++) {
        emit_open(json, NULL, '{');
        put_operator(json, report->curves, report->growths[i].point);
        emit_integer(json, "growth_bytes", report->growths[i].bytes);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

bool curves_json(FILE *out, const struct curves_analysis *analysis)
{
    const struct curves_report *report = analysis->report;
    const struct operator_curves *curves = report->curves;
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    emit_count(&json, "operator_count", curves->count);
    emit_count(&json, "num_alloc_retries", curves->num_alloc_retries);
    if (curves->count > 0) {
        const struct operator_point *points = curves->points;
        put_peak(&json, "allocated", curves, report->allocated,
                 points[report->allocated].allocated);
        put_peak(&json, "active", curves, report->active, points[report->active].active);
        put_peak(&json, "reserved", curves, report->reserved, points[report->reserved].reserved);
    }
    put_spans(&json, report);
    put_growths(&json, analysis);
    emit_close(&json, '}');
    return json_writer_finish(&json);
}
