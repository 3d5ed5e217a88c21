/* Units whose inputs need no gradient, as tables of embeddings, which take indices; and parameters
 * that recurrent layers take as one tensor. */
#include "analysis/shard/layer_inputs.h"

#include <stdlib.h>

#include "analysis/shard/tensors.h"

struct inputs {
    struct shard_model *model;
    const struct layer_trace *trace;
    uint32_t *units; /* of rows */
    bool *needs;     /* of rows: what they make needs a gradient */
};

static bool trains(const struct shard_model *model, const struct shard_layer *layer)
{
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++)
        if (!model->tensors[i].frozen)
            return true;
    return false;
}

static void take_input(struct inputs *inputs, size_t at, int64_t maker)
{
    if (maker < 0 || maker >= (int64_t)at || !inputs->needs[maker])
        return;
    inputs->needs[at] = true;
    if (inputs->units[maker] != inputs->units[at])
        inputs->model->units[inputs->units[at]].lacks_input_gradient = false;
}

/* If a module runs again, its second row has no parameters, but its output needs a gradient, too.
 */
static void take_row(struct inputs *inputs, size_t at, const struct shard_layer *layer)
{
    const struct layer_trace *trace = inputs->trace;
    const struct layer_row *row = &trace->rows[at];
    inputs->units[at] = layer->unit;
    inputs->needs[at] = row->gradient_bytes > 0 || trains(inputs->model, layer);
    for (uint32_t i = 0; i < row->reads.count; i++) {
        uint32_t number = trace->storage_numbers[row->reads.first + i];
        take_input(inputs, at, trace->storages[number].row);
    }
    if (layer_has(row, LAYER_CHANGES))
        take_input(inputs, at, row->changes);
}

static void take_rows(struct inputs *inputs)
{
    size_t layer = 0;
    for (size_t i = 1; i < inputs->model->unit_count; i++)
        inputs->model->units[i].lacks_input_gradient = true;
    for (size_t i = 0; i < inputs->trace->count; i++)
        if (inputs->trace->rows[i].is_forward)
            take_row(inputs, i, &inputs->model->layers[layer++]);
}

bool shard_layer_inputs(struct shard_model *model, const struct layer_trace *trace,
                        struct error *err)
{
    struct inputs inputs = {.model = model, .trace = trace};
    if (trace->storage_count == 0)
        return true;
    inputs.units = calloc(trace->count + 1, sizeof(*inputs.units));
    inputs.needs = calloc(trace->count + 1, sizeof(*inputs.needs));
    bool ok = inputs.units && inputs.needs;
    if (ok)
        take_rows(&inputs);
    free(inputs.units);
    free(inputs.needs);
    return ok || error_out_of_memory(err);
}

static int64_t elements_of(const struct shard_model *model, const struct shard_layer *layer)
{
    int64_t sum = 0;
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++)
        sum += model->tensors[i].elements;
    return sum;
}

void shard_layer_packing(struct shard_model *model, const struct layer_trace *trace)
{
    size_t at = 0, layer = 0;
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operator= & trace->operators[i];
        if (!text_equals(symbols_text(trace->symbols, operator->name), "aten._cudnn_rnn"))
            continue;
        if (operator->row<(int64_t) at)
            at = layer = 0;
        for (; (int64_t)at < operator->row; at++)
            layer += trace->rows[at].is_forward;
        model->layers[layer].packed = elements_of(model, &model->layers[layer]);
    }
    shard_model_set_packed(model);
}
