/* Parameters that modules of several units share. fsdp1 and fsdp2 take them only where all these
 * modules are in one unit, so they belong to the root. */
#include <stdlib.h>

#include "analysis/shard/layer_reader.h"
#include "analysis/shard/tensors.h"

static int64_t bytes_of(const struct shard_model *model, const struct shard_tensor *tensor)
{
    int64_t size = shard_type_size(tensor->type);
    return tensor->elements * (size > 0 ? size : model->element_size);
}

static void move_to_root(struct shard_model *model, uint32_t unit)
{
    for (size_t i = 0; unit != SHARD_ROOT && i < model->layer_count; i++)
        if (model->layers[i].unit == unit) {
            model->layers[i].unit = SHARD_ROOT;
            model->layers[i].is_unit = false;
        }
    for (size_t i = 0; unit != SHARD_ROOT && i < model->tensor_count; i++)
        if (model->tensors[i].unit == unit)
            model->tensors[i].unit = SHARD_ROOT;
}

/* If a module lists fewer bytes than it has, it shares the rest with an earlier module: the last
 * one that has a parameter of just as many bytes. */
static void join(struct shard_model *model, const struct shard_layer *layer, int64_t bytes)
{
    for (size_t i = layer->first_tensor; i-- > 0;)
        if (bytes_of(model, &model->tensors[i]) == bytes) {
            uint32_t other = model->tensors[i].unit, unit = layer->unit;
            if (other != unit) {
                move_to_root(model, other);
                move_to_root(model, unit);
            }
            return;
        }
}

static void join_all(struct layer_reader *reader, int64_t *listed)
{
    struct shard_model *model = reader->model;
    for (size_t i = 0; i < model->layer_count; i++)
        for (uint32_t k = model->layers[i].first_tensor; k < model->layers[i].end_tensor; k++)
            listed[reader->rows[i]->module_name] += bytes_of(model, &model->tensors[k]);
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_row *row = reader->rows[i];
        int64_t missing = row->module_params - listed[row->module_name];
        if (missing > 0)
            join(model, &model->layers[i], missing);
    }
}

bool layer_join_shared(struct layer_reader *reader, struct error *err)
{
    struct budget *budget = reader->model->budget;
    size_t bytes = (symbols_string_count(reader->trace->symbols) + 1) * sizeof(int64_t);
    if (!reader->model->has_tensors)
        return true;
    if (!budget_take(budget, bytes, err))
        return false;
    int64_t *listed = calloc(1, bytes);
    if (listed)
        join_all(reader, listed);
    bool ok = listed || error_out_of_memory(err);
    free(listed);
    budget_give(budget, bytes);
    return ok;
}
