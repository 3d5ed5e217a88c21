#include "analysis/shard/from_layers.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/layer_inputs.h"
#include "analysis/shard/tensors.h"

#define NONE UINT32_MAX

struct reader {
    struct shard_model *model;
    const struct layer_trace *trace;
    shard_unit_finder *find;
    void *self;
    const struct layer_row **rows; /* of the layers */
    uint32_t *last;                /* by name: its last layer that has not run backward */
    uint32_t *before;              /* by layer: the layer of the same name before it */
    bool has_gradients;            /* gradients appear in the memory of backward rows */
    bool has_peaks;
};

static bool text_is_prefix(struct text whole, struct text part)
{
    return part.size == whole.size && memcmp(part.bytes, whole.bytes, part.size) == 0;
}

static bool find_unit(struct reader *reader, struct text name, uint32_t *unit, struct error *err)
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

static enum shard_type type_of(const struct reader *reader, const struct layer_row *row)
{
    return layer_has(row, LAYER_DTYPE)
               ? shard_type_find(symbols_text(reader->trace->symbols, row->dtype))
               : SHARD_TYPE_UNKNOWN;
}

/* That of most bytes; bytes of 8 bits belong to types that are not those of a computation. */
static void set_type(struct reader *reader, size_t layers)
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

static bool push_tensor(struct reader *reader, int64_t bytes, uint32_t unit, bool frozen,
                        struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t elements = (bytes + model->element_size - 1) / model->element_size;
    return bytes <= 0 ||
           vec_push(model->tensors, model->tensor_count, model->tensor_capacity, model->budget, err,
                    (struct shard_tensor){.elements = elements, .unit = unit, .frozen = frozen});
}

/* A module that runs again, or shares its parameters with an earlier one, adds none. */
static bool add_parameters(struct reader *reader, const struct layer_row *row, bool is_first,
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

static bool add_layer(struct reader *reader, size_t at, bool *outside, int64_t *shared,
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
    };
    *outside |= name.size == 0 && layer_has(row, LAYER_OUTPUT_BYTES);
    bool is_first = reader->last[row->module_name] == NONE;
    if (!add_parameters(reader, row, is_first, unit, shared, err))
        return false;
    layer.end_tensor = (uint32_t)model->tensor_count;
    reader->before[at] = reader->last[row->module_name];
    reader->last[row->module_name] = (uint32_t)at;
    return vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                    layer);
}

/* Bytes of parameters that several modules have. */
static int64_t shared_bytes(const struct reader *reader, size_t layers)
{
    const struct layer_facts *facts = &reader->trace->facts;
    int64_t sum = 0;
    if ((facts->present >> FACT_PARAMETER_BYTES & 1) == 0)
        return 0;
    for (size_t i = 0; i < layers; i++) {
        string_id name = reader->rows[i]->module_name;
        sum += reader->last[name] == NONE ? reader->rows[i]->module_params : 0;
        reader->last[name] = 0;
    }
    for (size_t i = 0; i < layers; i++)
        reader->last[reader->rows[i]->module_name] = NONE;
    return sum > facts->parameter_bytes ? sum - facts->parameter_bytes : 0;
}

static bool read_forward(struct reader *reader, struct error *err)
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
        reader->model->has_batch_norm |= layer_has_trait(reader->trace, row, "batch_norm");
    }
    int64_t shared = shared_bytes(reader, layers);
    reader->model->has_tensors = (reader->trace->present >> LAYER_TENSORS & 1) != 0;
    set_type(reader, layers);
    for (size_t i = 0; i < layers; i++)
        if (!add_layer(reader, i, &outside, &shared, err))
            return false;
    return true;
}

static int64_t positive(int64_t bytes)
{
    return bytes > 0 ? bytes : 0;
}

/* Peaks are of tensors; what is there at the end has workspaces and rounding, too. The walk adds
 * these to both. */
static bool push_point(struct shard_model *model, struct shard_point point, struct error *err)
{
    point.end_bytes = positive(point.end_bytes - model->library_bytes);
    point.peak_bytes = positive(point.peak_bytes);
    if (point.end_bytes > point.peak_bytes)
        point.end_bytes = point.peak_bytes;
    return vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                    point);
}

static bool add_forward_points(struct reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t before = reader->trace->facts.before_bytes, saved = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_row *row = reader->rows[i];
        struct shard_point point = {.layer = (uint32_t)i};
        saved += model->layers[i].saved;
        point.peak_bytes = reader->has_peaks ? row->peak_bytes - before : saved;
        point.end_bytes = reader->has_peaks ? row->allocated - before : saved;
        if (!push_point(model, point, err))
            return false;
    }
    return true;
}

/* Without recorded rows: each layer has what is saved so far and the gradient of its output. */
static bool derive_backward(struct reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t saved = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        saved += model->layers[i].saved;
    for (size_t i = model->layer_count; i-- > 0;) {
        const struct shard_layer *layer = &model->layers[i];
        struct shard_point point = {.layer = (uint32_t)i,
                                    .is_backward = true,
                                    .first_tensor = layer->first_tensor,
                                    .end_tensor = layer->end_tensor,
                                    .peak_bytes = saved + layer->output,
                                    .end_bytes = saved - layer->saved};
        if (!push_point(model, point, err))
            return false;
        saved -= layer->saved;
    }
    return true;
}

/* The layer of a forward row; NONE if it is none. */
static uint32_t layer_of(const struct reader *reader, int64_t at)
{
    size_t low = 0, high = reader->model->layer_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->rows[middle] - reader->trace->rows < at)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found =
        low < reader->model->layer_count && reader->rows[low] - reader->trace->rows == at;
    return is_found ? (uint32_t)low : NONE;
}

/* Of a backward row: the call that the recorder names, or else the last one of that module that has
 * not run backward. */
static uint32_t called_layer(struct reader *reader, const struct layer_row *row)
{
    if (layer_has(row, LAYER_FORWARD_ROW))
        return layer_of(reader, row->forward_row);
    uint32_t layer = reader->last[row->module_name];
    if (layer != NONE)
        reader->last[row->module_name] = reader->before[layer];
    return layer;
}

/* Finds the layers of the backward rows. A row that belongs to no layer is left out. */
static size_t match_backward(struct reader *reader, uint32_t *layers, const struct layer_row **rows)
{
    size_t count = 0;
    for (size_t i = 0; i < reader->trace->count; i++) {
        const struct layer_row *row = &reader->trace->rows[i];
        uint32_t layer = row->is_forward ? NONE : called_layer(reader, row);
        if (layer == NONE)
            continue;
        layers[count] = layer;
        rows[count++] = row;
    }
    return count;
}

/* Bytes of gradients that the walk adds at the point of a layer. */
static int64_t added_bytes(const struct shard_model *model, const struct shard_layer *layer)
{
    int64_t bytes = 0;
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++) {
        const struct shard_tensor *tensor = &model->tensors[i];
        int64_t size = shard_type_size(tensor->type);
        if (!tensor->frozen)
            bytes += tensor->elements * (size > 0 ? size : model->element_size);
    }
    return bytes;
}

/* The recorder's row of a layer lasts until the next layer is reached, so that the gradients of
 * whatever ran forward between the two appear in it. A parameter that is used again, such as that
 * of a head that is tied to the table of words, has a gradient from the last use on; the walk adds
 * it at the first one, where autograd hands it over. */
static bool add_backward_points(struct reader *reader, const uint32_t *layers,
                                const struct layer_row **rows, size_t count, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t known = reader->trace->facts.before_bytes; /* and the gradients so far */
    int64_t early = 0;
    uint32_t low = (uint32_t)model->layer_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t next = i + 1 < count ? layers[i + 1] + 1 : 0;
        struct shard_point point = {.layer = layers[i], .is_backward = true};
        point.first_tensor = point.end_tensor = low < model->layer_count
                                                    ? model->layers[low].first_tensor
                                                    : (uint32_t)model->tensor_count;
        for (; low > next; low--) {
            point.first_tensor = model->layers[low - 1].first_tensor;
            known += reader->rows[low - 1]->gradient_bytes;
            early += reader->rows[low - 1]->gradient_bytes;
            early -= reader->has_gradients ? added_bytes(model, &model->layers[low - 1]) : 0;
        }
        point.early_elements = positive(early) / model->element_size;
        point.peak_bytes = rows[i]->peak_bytes - known;
        point.end_bytes = rows[i]->allocated - known;
        if (!push_point(model, point, err))
            return false;
    }
    model->end_bytes = positive(rows[count - 1]->allocated - known); /* with workspaces */
    int64_t most = model->points[model->point_count - 1].peak_bytes + model->library_bytes;
    if (model->end_bytes > most)
        model->end_bytes = most;
    model->has_backward = true;
    return true;
}

static bool read_points(struct reader *reader, struct error *err)
{
    size_t rows = reader->trace->count - reader->trace->forward_count;
    uint32_t *layers = calloc(rows + 1, sizeof(*layers));
    const struct layer_row **matched = calloc(rows + 1, sizeof(*matched));
    bool ok = layers && matched;
    if (!ok) {
        error_out_of_memory(err);
    } else if (add_forward_points(reader, err)) {
        size_t count = reader->has_peaks ? match_backward(reader, layers, matched) : 0;
        ok = count > 0 ? add_backward_points(reader, layers, matched, count, err)
                       : derive_backward(reader, err);
    } else {
        ok = false;
    }
    free(layers);
    free(matched);
    return ok;
}

/* Memory that the allocator counted on a GPU while no tensor had it. */
static int64_t library_bytes(const struct reader *reader)
{
    const struct layer_facts *facts = &reader->trace->facts;
    struct text device = symbols_text(reader->trace->symbols, facts->device);
    int64_t highest = 0;
    if (!reader->has_peaks || device.size < 4 || memcmp(device.bytes, "cuda", 4) != 0)
        return 0;
    for (size_t i = 0; i < reader->trace->count; i++)
        if (highest < reader->trace->rows[i].peak_bytes)
            highest = reader->trace->rows[i].peak_bytes;
    return positive(facts->peak_bytes - highest);
}

static bool read_all(struct reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct layer_facts *facts = &reader->trace->facts;
    if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                  (struct shard_unit){.name = {"", 0}}) ||
        !read_forward(reader, err))
        return false;
    model->library_bytes = library_bytes(reader);
    if (!read_points(reader, err))
        return false;
    shard_layer_packing(model, reader->trace);
    if (!shard_layer_inputs(model, reader->trace, err) ||
        !shard_layer_unused(model, reader->trace, err) || !shard_model_drop_units(model, err))
        return false;
    if (__builtin_add_overflow(facts->buffer_bytes, facts->beside_bytes, &model->buffer_bytes))
        model->buffer_bytes = INT64_MAX; /* shard_model_check() refuses it */
    model->batch_bytes = facts->batch_bytes;
    return true;
}

bool shard_model_from_layers(struct shard_model *model, const struct layer_trace *trace,
                             shard_unit_finder *find, void *self, struct error *err)
{
    size_t names = symbols_string_count(trace->symbols);
    struct reader reader = {.model = model, .trace = trace, .find = find, .self = self};
    size_t bytes = names * sizeof(*reader.last) +
                   trace->count * (sizeof(*reader.before) + sizeof(*reader.rows));
    if (!budget_take(model->budget, bytes, err))
        return false;
    reader.rows = calloc(trace->count + 1, sizeof(*reader.rows));
    reader.last = malloc((names + 1) * sizeof(*reader.last));
    reader.before = calloc(trace->count + 1, sizeof(*reader.before));
    bool ok = reader.rows && reader.last && reader.before;
    if (ok) {
        memset(reader.last, 0xff, (names + 1) * sizeof(*reader.last));
        ok = read_all(&reader, err);
    } else {
        error_out_of_memory(err);
    }
    free(reader.rows);
    free(reader.last);
    free(reader.before);
    budget_give(model->budget, bytes);
    return ok;
}
