/* The forward pass of a layer trace: units, layers, and the parameters of each. */
#include <string.h>

#include "analysis/shard/layer_reader.h"
#include "analysis/shard/tensors.h"

static bool text_is_prefix(struct text whole, struct text part)
{
    return part.size == whole.size && memcmp(part.bytes, whole.bytes, part.size) == 0;
}

static bool find_unit(struct layer_reader *reader, struct text name, uint32_t *unit,
                      struct error *err)
{
    struct shard_model *model = reader->model;
    struct text prefix = {name.bytes, reader->find(reader->self, name)};
    *unit = SHARD_ROOT;
    if (prefix.size == 0)
        return true;
    /* Rows of a unit follow each other, but for units that run again. */
    for (size_t i = model->unit_count; i-- > 1;) {
        if (!text_is_prefix(model->units[i].name, prefix))
            continue;
        *unit = (uint32_t)i;
        return true;
    }
    *unit = (uint32_t)model->unit_count;
    return vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                    (struct shard_unit){.name = prefix});
}

static enum shard_type type_of(const struct layer_reader *reader, const struct layer_row *row)
{
    return layer_has(row, LAYER_DTYPE)
               ? shard_type_find(symbols_text(reader->trace->symbols, row->dtype))
               : SHARD_TYPE_UNKNOWN;
}

/* That of most bytes; bytes of 8 bits belong to types that are not those of a computation. */
static void set_type(struct layer_reader *reader, size_t layers)
{
    int64_t bytes[SHARD_BYTE] = {0};
    for (size_t i = 0; i < layers; i++) {
        enum shard_type type = type_of(reader, reader->rows[i]);
        if (type < SHARD_BYTE)
            bytes[type] += reader->rows[i]->module_params;
    }
    enum shard_type most = SHARD_TYPE_UNKNOWN;
    for (enum shard_type type = SHARD_FLOAT32; type < SHARD_BYTE; type++)
        if (bytes[type] > 0 && (most == SHARD_TYPE_UNKNOWN || bytes[type] > bytes[most]))
            most = type;
    reader->model->type = most;
    if (most != SHARD_TYPE_UNKNOWN)
        reader->model->element_size = shard_type_size(most);
}

static bool push_tensor(struct layer_reader *reader, int64_t bytes, uint32_t unit, bool frozen,
                        struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t elements = (bytes + model->element_size - 1) / model->element_size;
    return bytes <= 0 ||
           vec_push(model->tensors, model->tensor_count, model->tensor_capacity, model->budget, err,
                    (struct shard_tensor){.elements = elements, .unit = unit, .frozen = frozen});
}

/* A module that runs again, or shares its parameters with an earlier one, adds none. */
static bool add_parameters(struct layer_reader *reader, const struct layer_row *row, bool is_first,
                           uint32_t unit, int64_t *shared, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t trained = reader->has_gradients ? row->gradient_bytes : row->module_params;
    int64_t rest = row->module_params - trained;
    if (layer_has(row, LAYER_TENSORS))
        return shard_tensors_read(model, symbols_text(reader->trace->symbols, row->tensors),
                                  (struct shard_tensor){.unit = unit, .type = type_of(reader, row)},
                                  err);
    if (!is_first || model->has_tensors)
        return true;
    if (rest > 0 && rest <= *shared) {
        *shared -= rest;
        rest = 0;
    }
    return push_tensor(reader, trained, unit, false, err) &&
           push_tensor(reader, rest, unit, true, err);
}

static bool add_layer(struct layer_reader *reader, size_t at, bool *outside, int64_t *shared,
                      struct error *err)
{
    struct shard_model *model = reader->model;
    const struct layer_row *row = reader->rows[at];
    struct text name = layer_name(reader->trace, row);
    uint32_t unit;
    bool has_saved = layer_has(row, LAYER_SAVED_ACTIVATIONS);
    if (!find_unit(reader, name, &unit, err))
        return false;
    struct shard_layer layer = {
        .unit = unit,
        .first_tensor = (uint32_t)model->tensor_count,
        .outside = *outside,
        .saved = has_saved ? row->saved_activations : row->memory_activations,
        .output = layer_has(row, LAYER_OUTPUT_BYTES) ? row->output_bytes : row->memory_activations,
        .us = row->forward_us,
        .is_unit = name.size == reader->model->units[unit].name.size,
        .name = name,
    };
    *outside |= name.size == 0 && layer_has(row, LAYER_OUTPUT_BYTES);
    bool is_first = reader->last[row->module_name] == LAYER_NONE;
    if (!add_parameters(reader, row, is_first, unit, shared, err))
        return false;
    model->batch_norms += is_first && layer_has_trait(reader->trace, row, "batch_norm");
    layer.end_tensor = (uint32_t)model->tensor_count;
    reader->before[at] = reader->last[row->module_name];
    reader->last[row->module_name] = (uint32_t)at;
    return vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                    layer);
}

/* Bytes of parameters that several modules have. */
static int64_t shared_bytes(const struct layer_reader *reader, size_t layers)
{
    const struct layer_facts *facts = &reader->trace->facts;
    int64_t sum = 0;
    if ((facts->present >> FACT_PARAMETER_BYTES & 1) == 0)
        return 0;
    for (size_t i = 0; i < layers; i++) {
        string_id name = reader->rows[i]->module_name;
        sum += reader->last[name] == LAYER_NONE ? reader->rows[i]->module_params : 0;
        reader->last[name] = 0;
    }
    for (size_t i = 0; i < layers; i++)
        reader->last[reader->rows[i]->module_name] = LAYER_NONE;
    return sum > facts->parameter_bytes ? sum - facts->parameter_bytes : 0;
}

bool layer_read_forward(struct layer_reader *reader, struct error *err)
{
    size_t layers = 0;
    bool outside = false;
    reader->has_peaks = true;
    for (size_t i = 0; i < reader->trace->count; i++) {
        const struct layer_row *row = &reader->trace->rows[i];
        reader->has_peaks &= layer_has(row, LAYER_PEAK_BYTES);
        if (!row->is_forward)
            continue;
        reader->rows[layers++] = row;
        reader->has_gradients |= row->gradient_bytes > 0;
    }
    int64_t shared = shared_bytes(reader, layers);
    reader->model->has_tensors = (reader->trace->present >> LAYER_TENSORS & 1) != 0;
    reader->model->has_names = true;
    set_type(reader, layers);
    for (size_t i = 0; i < layers; i++)
        if (!add_layer(reader, i, &outside, &shared, err))
            return false;
    return true;
}
