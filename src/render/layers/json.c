#include "render/core/json.h"
#include "render/layers/layers.h"
#include "render/layers/path.h"

#define SCHEMA "memsnap.layers/1"

static void put_name(struct json_writer *json, const struct layer_trace *trace, string_id name)
{
    json_put_text(json, "module_name", symbols_text(trace->symbols, name));
}

static void put_input(struct json_writer *json, const struct layers_analysis *analysis)
{
    const struct layer_trace *trace = analysis->report->trace;
    json_put_open(json, "input", '{');
    json_put_string(json, "path", analysis->path);
    json_put_string(json, "format", "layer-trace");
    if (trace->input_bytes)
        json_put_count(json, "bytes", trace->input_bytes);
    json_put_string(json, "encoding", encoding_name(trace->encoding));
    if (trace->protocol >= 0)
        json_put_integer(json, "protocol", trace->protocol);
    json_put_string(json, "compression", trace->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(json, '}');
}

static void put_peak(struct json_writer *json, const char *key, const struct layer_trace *trace,
                     const struct layers_peak *peak)
{
    if (peak->row == LAYERS_NONE)
        return;
    const struct layer_row *row = &trace->rows[peak->row];
    json_put_open(json, key, '{');
    json_put_integer(json, "bytes", peak->bytes);
    put_name(json, trace, row->module_name);
    json_put_string(json, "phase", row->is_forward ? "forward" : "backward");
    json_put_count(json, "trace", peak->row);
    json_put_close(json, '}');
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

static size_t limited(size_t count, size_t top)
{
    return top && top < count ? top : count;
}

static void put_producers(struct json_writer *json, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    size_t count = limited(report->producer_count, analysis->producers);
    json_put_open(json, "top_forward_activation_producers", '[');
    for (size_t i = 0; i < count; i++) {
        const struct layer_row *row = &report->trace->rows[report->producers[i]];
        json_put_open(json, NULL, '{');
        put_name(json, report->trace, row->module_name);
        json_put_integer(json, "memory_activations", row->memory_activations);
        json_put_integer(json, "memory_diff", row->memory_diff);
        json_put_integer(json, "module_params", row->module_params);
        json_put_count(json, "trace", report->producers[i]);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_modules(struct json_writer *json, const struct layers_report *report)
{
    uint32_t present = report->trace->present;
    json_put_open(json, "modules", '[');
    for (size_t i = 0; i < report->module_count; i++) {
        const struct layers_module *module = &report->modules[i];
        json_put_open(json, NULL, '{');
        put_name(json, report->trace, module->name);
        json_put_integer(json, "module_params", module->params);
        json_put_integer(json, "memory_activations", module->activations);
        json_put_integer(json, "memory_diff", module->memory_diff);
        if (present >> LAYER_SAVED_ACTIVATIONS & 1)
            json_put_integer(json, "saved_activations", module->saved);
        json_put_integer(json, "all_gathered", module->all_gathered);
        json_put_count(json, "forward_traces", module->forward_rows);
        json_put_count(json, "backward_traces", module->backward_rows);
        if (present >> LAYER_FORWARD_US & 1)
            json_put_real(json, "forward_us", module->forward_us);
        if (present >> LAYER_BACKWARD_US & 1)
            json_put_real(json, "backward_us", module->backward_us);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_gathered(struct json_writer *json, const struct layers_report *report)
{
    json_put_open(json, "all_gathered", '{');
    json_put_integer(json, "forward_bytes", report->gathered_forward);
    json_put_integer(json, "backward_bytes", report->gathered_backward);
    put_peak(json, "max_cumulative", report->trace, &report->gathered);
    json_put_close(json, '}');
}

static void put_shard(struct json_writer *json, const struct layers_report *report,
                      const struct layers_shard *shard)
{
    struct buffer name = BUFFER_INIT;
    layers_path(report, shard->node, true, &name);
    json->failed = json->failed || name.failed;
    json_put_open(json, NULL, '{');
    json_put_text(json, "module_name", (struct text){name.size ? name.bytes : "", name.size});
    json_put_integer(json, "parameter_bytes", report->nodes[shard->node].params);
    json_put_integer(json, "saved_bytes", shard->saved_bytes);
    json_put_bool(json, "worth", shard->worth);
    json_put_close(json, '}');
    buffer_release(&name);
}

static void put_sharding(struct json_writer *json, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    size_t count = limited(report->shard_count, analysis->shards);
    json_put_open(json, "sharding", '{');
    json_put_count(json, "ranks", report->options.ranks);
    json_put_integer(json, "saved_bytes", report->shard_saved);
    json_put_integer(json, "worth_saved_bytes", report->worth_saved);
    json_put_open(json, "blocks", '[');
    for (size_t i = 0; i < count; i++)
        put_shard(json, report, &report->shards[i]);
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
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    put_input(&json, analysis);
    put_counts(&json, report);
    put_peak(&json, "max_memory_allocated", report->trace, &report->allocated);
    put_peak(&json, "max_memory_cached", report->trace, &report->reserved);
    json_put_integer(&json, "total_activation_allocations", report->total_activations);
    json_put_integer(&json, "total_forward_allocations", report->total_forward);
    json_put_integer(&json, "parameter_bytes", report->nodes[0].params);
    put_producers(&json, analysis);
    put_gathered(&json, report);
    put_sharding(&json, analysis);
    put_modules(&json, report);
    put_warnings(&json, report);
    if (analysis->verbose)
        put_unknown_keys(&json, report->trace);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
