#include "render/core/json.h"
#include "render/layers/convert.h"

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53 */

/* Writes a whole number of microseconds as an integer, because it most likely was one. */
static void put_time(struct json_writer *json, const char *key, double microseconds)
{
    if (microseconds <= WHOLE_LIMIT && microseconds == (double)(int64_t)microseconds)
        json_put_integer(json, key, (int64_t)microseconds);
    else
        json_put_real(json, key, microseconds);
}

static void put_row(struct json_writer *json, const struct layer_trace *trace,
                    const struct layer_row *row)
{
    json_put_open(json, NULL, '{');
    json_put_text(json, "module_name", layer_name(trace, row));
    json_put_integer(json, "module_params", row->module_params);
    json_put_integer(json, "allocated", row->allocated);
    json_put_integer(json, "reserved", row->reserved);
    json_put_bool(json, "is_forward", row->is_forward);
    json_put_integer(json, "all_gathered", row->all_gathered);
    json_put_integer(json, "cumul_all_gathered", row->cumul_all_gathered);
    if (layer_has(row, LAYER_FORWARD_US))
        put_time(json, "forward_us", row->forward_us);
    if (layer_has(row, LAYER_BACKWARD_US))
        put_time(json, "backward_us", row->backward_us);
    if (layer_has(row, LAYER_DEPTH))
        json_put_integer(json, "depth", row->depth);
    if (layer_has(row, LAYER_SAVED_ACTIVATIONS))
        json_put_integer(json, "saved_activations", row->saved_activations);
    json_put_open(json, "event", '{');
    if (layer_has(row, LAYER_MEMORY_DIFF))
        json_put_integer(json, "memory_diff", row->memory_diff);
    json_put_integer(json, "memory_activations", row->memory_activations);
    json_put_close(json, '}');
    json_put_close(json, '}');
}

bool layers_write_json(FILE *out, const struct layer_trace *trace)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_open(&json, "traces", '[');
    for (size_t i = 0; i < trace->count; i++)
        put_row(&json, trace, &trace->rows[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
