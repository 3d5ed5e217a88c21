#include "render/diff/layers.h"

static void put_figure(struct json_writer *json, const char *key, int64_t a, int64_t b)
{
    json_put_open(json, key, '{');
    diff_json_bytes(json, (const int64_t[]){a, b});
    json_put_close(json, '}');
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
    put_figure(&json, "peak_allocated", a->allocated.bytes, b->allocated.bytes);
    put_figure(&json, "peak_reserved", a->reserved.bytes, b->reserved.bytes);
    put_figure(&json, "peak_gathered", a->gathered.bytes, b->gathered.bytes);
    put_figure(&json, "parameters", a->nodes[0].params, b->nodes[0].params);
    diff_json_limit(&json, &report->limit);
    diff_json_words(&json, "summary", &report->diff->summary, NULL);
    json_put_open(&json, "sites", '[');
    for (size_t i = 0; i < layers_diff_lines(report); i++) {
        struct layers_diff_line line;
        layers_diff_line(report, i, &line);
        json_put_row(&json, NULL, &layers_diff_type, &line, &(struct field_context){0});
    }
    json_put_close(&json, ']');
    json_put_rows(&json, &diff_category_type, &all, 1, &(struct field_context){0});
    diff_json_words(&json, "warnings", &report->diff->warnings, NULL);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
