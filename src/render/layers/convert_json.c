#include "render/core/json.h"
#include "render/layers/convert.h"
#include "render/layers/facts.h"

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53 */

/* Writes a whole number of microseconds as an integer, because it most likely was one. */
static void put_time(struct json_writer *json, const char *key, double microseconds)
{
    if (microseconds <= WHOLE_LIMIT && microseconds == (double)(int64_t)microseconds)
        json_put_integer(json, key, (int64_t)microseconds);
    else
        json_put_real(json, key, microseconds);
}

static void put_facts(struct json_writer *json, const struct layer_trace *trace)
{
    for (enum layer_fact i = 0; i < LAYER_FACTS; i++)
        if (layers_has_fact(trace, i) && layers_facts[i].is_text)
            json_put_text(json, layers_facts[i].key, layers_fact_text(trace, i));
        else if (layers_has_fact(trace, i))
            json_put_integer(json, layers_facts[i].key, layers_fact_number(trace, i));
}

static void put_storages(struct json_writer *json, const struct layer_trace *trace)
{
    if (trace->storage_count == 0)
        return;
    json_put_open(json, "storages", '[');
    for (size_t i = 0; i < trace->storage_count; i++) {
        json_put_open(json, NULL, '[');
        json_put_integer(json, NULL, trace->storages[i].bytes);
        json_put_integer(json, NULL, trace->storages[i].row);
        if (trace->storages[i].held > 0)
            json_put_integer(json, NULL, trace->storages[i].held);
        json_put_close(json, ']');
    }
    json_put_close(json, ']');
}

static void put_list(struct json_writer *json, const char *key, const struct layer_trace *trace,
                     struct storage_list list)
{
    json_put_open(json, key, '[');
    for (uint32_t i = 0; i < list.count; i++)
        json_put_integer(json, NULL, trace->storage_numbers[list.first + i]);
    json_put_close(json, ']');
}

static void put_operators(struct json_writer *json, const struct layer_trace *trace)
{
    if (trace->operator_count == 0)
        return;
    json_put_open(json, "operators", '[');
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operation = &trace->operators[i];
        json_put_open(json, NULL, '{');
        json_put_text(json, "name", symbols_text(trace->symbols, operation->name));
        json_put_integer(json, "row", operation->row);
        put_time(json, "us", operation->us);
        put_time(json, "tail_us", operation->tail_us);
        json_put_integer(json, "other_bytes", operation->other_bytes);
        json_put_bool(json, "keepable", operation->keepable);
        if (layers_operator_has(operation, OPERATOR_FLOPS))
            json_put_integer(json, "flops", operation->flops);
        if (layers_operator_has(operation, OPERATOR_TAIL_FLOPS))
            json_put_integer(json, "tail_flops", operation->tail_flops);
        put_list(json, "made", trace, operation->made);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

/* The keys that only memsnap's recorder writes. */
static void put_recorded(struct json_writer *json, const struct layer_trace *trace,
                         const struct layer_row *row)
{
    if (layer_has(row, LAYER_IS_LEAF))
        json_put_bool(json, "is_leaf", row->is_leaf);
    if (layer_has(row, LAYER_OUTPUT_BYTES))
        json_put_integer(json, "output_bytes", row->output_bytes);
    if (layer_has(row, LAYER_GRADIENT_BYTES))
        json_put_integer(json, "gradient_bytes", row->gradient_bytes);
    if (layer_has(row, LAYER_PEAK_BYTES))
        json_put_integer(json, "peak_bytes", row->peak_bytes);
    if (layer_has(row, LAYER_TAIL_US))
        put_time(json, "tail_us", row->tail_us);
    if (layer_has(row, LAYER_PLAIN))
        json_put_bool(json, "plain", row->plain);
    if (layer_has(row, LAYER_FOLLOWS))
        json_put_bool(json, "follows", row->follows);
    if (layer_has(row, LAYER_CHANGES))
        json_put_integer(json, "changes", row->changes);
    if (layer_has(row, LAYER_FORWARD_ROW))
        json_put_integer(json, "forward_row", row->forward_row);
    if (layer_has(row, LAYER_CAST_BYTES))
        json_put_integer(json, "cast_bytes", row->cast_bytes);
    if (layer_has(row, LAYER_SAVED_PEAK_BYTES))
        json_put_integer(json, "saved_peak_bytes", row->saved_peak_bytes);
    if (layer_has(row, LAYER_START_BYTES))
        json_put_integer(json, "start_bytes", row->start_bytes);
    if (layer_has(row, LAYER_OLD_GRADIENT_BYTES))
        json_put_integer(json, "old_gradient_bytes", row->old_gradient_bytes);
    if (layer_has(row, LAYER_WORKSPACE_BYTES))
        json_put_integer(json, "workspace_bytes", row->workspace_bytes);
    if (layer_has(row, LAYER_LIMITED_BYTES))
        json_put_integer(json, "limited_bytes", row->limited_bytes);
    if (layer_has(row, LAYER_LIMIT_BYTES))
        json_put_integer(json, "limit_bytes", row->limit_bytes);
    if (layer_has(row, LAYER_FLOPS))
        json_put_integer(json, "flops", row->flops);
    if (layer_has(row, LAYER_TAIL_FLOPS))
        json_put_integer(json, "tail_flops", row->tail_flops);
    if (layer_has(row, LAYER_DTYPE))
        json_put_text(json, "dtype", symbols_text(trace->symbols, row->dtype));
    if (layer_has(row, LAYER_TENSORS))
        json_put_text(json, "tensors", symbols_text(trace->symbols, row->tensors));
    if (layer_has(row, LAYER_TRAITS))
        json_put_text(json, "traits", symbols_text(trace->symbols, row->traits));
    if (layer_has(row, LAYER_FIRST_NAME))
        json_put_text(json, "first_name", symbols_text(trace->symbols, row->first_name));
    if (layer_has(row, LAYER_READS))
        put_list(json, "reads", trace, row->reads);
    if (layer_has(row, LAYER_SAVES))
        put_list(json, "saves", trace, row->saves);
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
    put_recorded(json, trace, row);
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
    put_facts(&json, trace);
    json_put_open(&json, "traces", '[');
    for (size_t i = 0; i < trace->count; i++)
        put_row(&json, trace, &trace->rows[i]);
    json_put_close(&json, ']');
    put_storages(&json, trace);
    put_operators(&json, trace);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
