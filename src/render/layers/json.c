#include "render/core/input_line.h"
#include "render/core/rows.h"
#include "render/layers/internal.h"
#include "render/layers/layers.h"

#define SCHEMA "memsnap.layers/1"

static void put_input(struct json_writer *json, const struct layers_analysis *analysis)
{
    const struct layer_trace *trace = analysis->report->trace;
    const struct input_line input = {
        .path = analysis->path,
        .bytes = trace->input_bytes,
        .encoding = trace->encoding,
        .protocol = trace->protocol,
        .compression = trace->compression,
    };
    json_put_input(json, "input", "layer-trace", &input);
}

/* context->user is the struct layers_report. */
static struct value pass(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(((const struct layers_row *)data)->row.is_forward ? "forward" : "backward");
}

#define ROW struct layers_row
static const struct row_type peak_type = ROW_TYPE(
    "peak", ROW, FIELD(ROW, BYTES, bytes), FIELD_AS(ROW, MODULE, "module_name", row.module_name),
    FIELD_CALL(WORD, "phase", pass), FIELD(ROW, NUMBER, trace));

#undef ROW

static bool has_column(const struct field_context *context, int column)
{
    return ((const struct layers_report *)context->user)->trace->present >> column & 1;
}

static bool has_saved(const void *row, const struct field_context *context)
{
    (void)row;
    return has_column(context, LAYER_SAVED_ACTIVATIONS);
}

static bool has_forward_time(const void *row, const struct field_context *context)
{
    (void)row;
    return has_column(context, LAYER_FORWARD_US);
}

static bool has_backward_time(const void *row, const struct field_context *context)
{
    (void)row;
    return has_column(context, LAYER_BACKWARD_US);
}

#define ROW struct layers_module
static const struct row_type module_type = ROW_TYPE(
    "modules", ROW, FIELD_AS(ROW, MODULE, "module_name", name),
    FIELD_AS(ROW, BYTES, "module_params", params),
    FIELD_AS(ROW, BYTES, "memory_activations", activations), FIELD(ROW, BYTES, memory_diff),
    FIELD_AS(ROW, BYTES, "saved_activations", saved, .present = has_saved),
    FIELD(ROW, BYTES, all_gathered), FIELD_AS(ROW, COUNT, "forward_traces", forward_rows),
    FIELD_AS(ROW, COUNT, "backward_traces", backward_rows),
    FIELD(ROW, REAL, forward_us, .present = has_forward_time),
    FIELD(ROW, REAL, backward_us, .present = has_backward_time));
#undef ROW

static void put_peak(struct json_writer *json, const char *key, const struct layers_peak *peak,
                     const struct field_context *context)
{
    const struct layers_report *report = context->user;
    if (peak->row == LAYERS_NONE)
        return;
    const struct layers_row row = {peak->bytes, report->trace->rows[peak->row], peak->row};
    json_put_row(json, key, &peak_type, &row, context);
}

static void put_counts(struct json_writer *json, const struct layers_report *report)
{
    const struct layer_trace *trace = report->trace;
    json_put_open(json, "traces", '{');
    json_put_count(json, "count", trace->count);
    json_put_count(json, "forward", trace->forward_count);
    json_put_count(json, "backward", trace->count - trace->forward_count);
    json_put_count(json, "modules", report->module_count);
    json_put_close(json, '}');
}

static void put_producers(struct json_writer *json, const struct layers_analysis *analysis,
                          const struct field_context *context)
{
    const struct layers_report *report = analysis->report;
    size_t count = layers_limited(report->producer_count, analysis->producers);
    json_put_open(json, layers_producer_type.name, '[');
    for (size_t i = 0; i < count; i++) {
        const struct layers_row row = layers_producer(report, i);
        json_put_row(json, NULL, &layers_producer_type, &row, context);
    }
    json_put_close(json, ']');
}

static void put_gathered(struct json_writer *json, const struct layers_report *report,
                         const struct field_context *context)
{
    json_put_open(json, "all_gathered", '{');
    json_put_integer(json, "forward_bytes", report->gathered_forward);
    json_put_integer(json, "backward_bytes", report->gathered_backward);
    put_peak(json, "max_cumulative", &report->gathered, context);
    json_put_close(json, '}');
}

static void put_sharding(struct json_writer *json, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    size_t count = layers_limited(report->shard_count, analysis->shards);
    struct buffer name = BUFFER_INIT;
    json_put_open(json, "sharding", '{');
    json_put_count(json, "ranks", report->options.ranks);
    json_put_integer(json, "saved_bytes", report->shard_saved);
    json_put_integer(json, "worth_saved_bytes", report->worth_saved);
    json_put_open(json, layers_block_type.name, '[');
    for (size_t i = 0; i < count; i++) {
        const struct layers_block block = layers_block(report, i, &name);
        json_put_row(json, NULL, &layers_block_type, &block, &(struct field_context){0});
    }
    json->failed = json->failed || name.failed;
    buffer_release(&name);
    json_put_close(json, ']');
    json_put_close(json, '}');
}

static void put_unknown_keys(struct json_writer *json, const struct layer_trace *trace)
{
    json_put_open(json, "unknown_keys", '[');
    for (size_t i = 0; i < trace->unknown_key_count; i++)
        json_put_text(json, NULL, symbols_text(trace->symbols, trace->unknown_keys[i]));
    json_put_close(json, ']');
}

static void put_warnings(struct json_writer *json, const struct layers_report *report)
{
    char text[LAYERS_NOTICE_SIZE];
    json_put_open(json, "warnings", '[');
    for (enum layers_notice i = 0; i < LAYERS_NOTICES; i++)
        if (layers_notice_text(report, i, text))
            json_put_string(json, NULL, text);
    json_put_close(json, ']');
}

bool layers_json(FILE *out, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    const struct field_context context = {.symbols = report->trace->symbols, .user = report};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    put_counts(&json, report);
    put_peak(&json, "max_memory_allocated", &report->allocated, &context);
    put_peak(&json, "max_memory_cached", &report->reserved, &context);
    json_put_integer(&json, "total_activation_allocations", report->total_activations);
    json_put_integer(&json, "total_forward_allocations", report->total_forward);
    json_put_integer(&json, "parameter_bytes", report->nodes[0].params);
    put_producers(&json, analysis, &context);
    put_gathered(&json, report, &context);
    put_sharding(&json, analysis);
    json_put_rows(&json, &module_type, report->modules, report->module_count, &context);
    put_warnings(&json, report);
    if (analysis->verbose)
        put_unknown_keys(&json, report->trace);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
