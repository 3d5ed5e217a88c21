#include "render/json.h"
#include "render/layers_convert.h"

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53 */

/* A whole number of microseconds as one, as it most likely was. */
static void put_time(struct json_writer *json, const char *key, double microseconds)
{
    if (microseconds <= WHOLE_LIMIT && microseconds == (double)(int64_t)microseconds)
        emit_integer(json, key, (int64_t)microseconds);
    else
        emit_real(json, key, microseconds);
}

static void put_row(struct json_writer *json, const struct layer_trace *trace,
                    const struct layer_row *row)
{
    emit_open(json, NULL, '{');
    emit_text(json, "module_name", layer_name(trace, row));
    emit_integer(json, "module_params", row->module_params);
    emit_integer(json, "allocated", row->allocated);
    emit_integer(json, "reserved", row->reserved);
    emit_flag(json, "is_forward", row->is_forward);
    emit_integer(json, "all_gathered", row->all_gathered);
    emit_integer(json, "cumul_all_gathered", row->cumul_all_gathered);
    if (layer_has(row, LAYER_FORWARD_US))
        put_time(json, "forward_us", row->forward_us);
    if (layer_has(row, LAYER_BACKWARD_US))
        put_time(json, "backward_us", row->backward_us);
    if (layer_has(row, LAYER_DEPTH))
        emit_integer(json, "depth", row->depth);
    if (layer_has(row, LAYER_SAVED_ACTIVATIONS))
        emit_integer(json, "saved_activations", row->saved_activations);
    emit_open(json, "event", '{');
    if (layer_has(row, LAYER_MEMORY_DIFF))
        emit_integer(json, "memory_diff", row->memory_diff);
    emit_integer(json, "memory_activations", row->memory_activations);
    emit_close(json, '}');
    emit_close(json, '}');
}

bool layers_write_json(FILE *out, const struct layer_trace *trace)
{
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_open(&json, "traces", '[');
    for (size_t i = 0; i < trace->count; i++)
        put_row(&json, trace, &trace->rows[i]);
    emit_close(&json, ']');
    emit_close(&json, '}');
    return json_writer_finish(&json);
}
