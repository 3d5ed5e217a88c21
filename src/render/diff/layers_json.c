#include "render/diff/layers.h"

static void put_site(struct json_writer *json, const struct layers_diff_line *line)
{
    const struct layers_diff_row *row = &line->row;
    bool both = row->modules[0] > 0 && row->modules[1] > 0 && !line->is_remainder;
    json_put_open(json, NULL, '{');
    json_put_text(json, "label", row->name);
    if (row->was.size > 0)
        json_put_text(json, "a_label", row->was);
    diff_json_bytes(json, row->activations);
    diff_json_counts(json, row->runs);
    json_put_string(json, "change", line->change);
    json_put_string(json, "matched_by",
                    diff_matched_name(both ? DIFF_BY_FUNCTION : DIFF_BY_NOTHING));
    json_put_integer(json, "a_params", row->params[0]);
    json_put_integer(json, "b_params", row->params[1]);
    json_put_count(json, "a_sites", row->modules[0]);
    json_put_count(json, "b_sites", row->modules[1]);
    if (line->is_remainder)
        json_put_bool(json, "remainder", true);
    json_put_close(json, '}');
}

static void put_figure(struct json_writer *json, const char *key, int64_t a, int64_t b)
{
    json_put_open(json, key, '{');
    diff_json_bytes(json, (const int64_t[]){a, b});
    json_put_close(json, '}');
}

static void put_category(struct json_writer *json, const int64_t bytes[2], const uint64_t count[2])
{
    json_put_open(json, "categories", '[');
    json_put_open(json, NULL, '{');
    json_put_string(json, "name", category_name(CATEGORY_ACTIVATION));
    diff_json_bytes(json, bytes);
    diff_json_counts(json, count);
    json_put_close(json, '}');
    json_put_close(json, ']');
}

bool layers_diff_json(FILE *out, const struct layers_diff_report *report)
{
    const struct layers_report *a = report->diff->reports[0], *b = report->diff->reports[1];
    const int64_t activations[2] = {a->total_activations, b->total_activations};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", DIFF_SCHEMA);
    json_put_string(&json, "format", "layer-trace");
    json_put_string(&json, "at", "forward");
    diff_json_input(&json, "a_input", &report->inputs[0]);
    diff_json_input(&json, "b_input", &report->inputs[1]);
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
        put_site(&json, &line);
    }
    json_put_close(&json, ']');
    put_category(&json, activations,
                 (const uint64_t[]){a->trace->forward_count, b->trace->forward_count});
    diff_json_words(&json, "warnings", &report->diff->warnings, NULL);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
