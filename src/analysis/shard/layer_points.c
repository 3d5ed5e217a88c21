/* The memory of a step by the rows of a layer trace, in both passes. */
#include <stdlib.h>

#include "analysis/shard/layer_reader.h"
#include "analysis/shard/tensors.h"

static int64_t positive(int64_t bytes)
{
    return bytes > 0 ? bytes : 0;
}

/* Recorded peaks are sums of tensors; the bytes at the end of a row also have workspaces and
 * rounding. The walk adds these to both, so they are taken off here. */
static bool push_point(struct shard_model *model, struct shard_point point, struct error *err)
{
    point.end_bytes = positive(point.end_bytes - model->library_bytes);
    point.peak_bytes = positive(point.peak_bytes);
    shard_point_clamp(&point);
    if (point.end_bytes > point.peak_bytes)
        point.end_bytes = point.peak_bytes;
    return vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                    point);
}

static void set_workspaces(struct shard_point *point, const struct layer_row *row)
{
    point->fixed_bytes = row->workspace_bytes;
    point->limited_bytes = row->limited_bytes;
    point->limit_bytes = row->limit_bytes;
}

static bool add_forward_points(struct layer_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t before = reader->trace->facts.before_bytes, saved = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_row *row = reader->rows[i];
        struct shard_point point = {.layer = (uint32_t)i};
        set_workspaces(&point, row);
        saved += model->layers[i].saved;
        point.peak_bytes = reader->has_peaks ? row->peak_bytes - before : saved;
        point.end_bytes = reader->has_peaks ? row->allocated - before : saved;
        if (!push_point(model, point, err))
            return false;
    }
    return true;
}

/* Without recorded rows: each layer has what is saved so far and the gradient of its output. */
static bool derive_backward(struct layer_reader *reader, struct error *err)
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

/* The layer of a forward row; LAYER_NONE if it is none. */
static uint32_t layer_of(const struct layer_reader *reader, int64_t at)
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
    return is_found ? (uint32_t)low : LAYER_NONE;
}

/* Of a backward row: the call that the recorder names, or else the last one of that module that has
 * not run backward. */
static uint32_t called_layer(struct layer_reader *reader, const struct layer_row *row)
{
    if (layer_has(row, LAYER_FORWARD_ROW))
        return layer_of(reader, row->forward_row);
    uint32_t layer = reader->last[row->module_name];
    if (layer != LAYER_NONE)
        reader->last[row->module_name] = reader->before[layer];
    return layer;
}

/* Finds the layers of the backward rows. A row that belongs to no layer is left out. */
static size_t match_backward(struct layer_reader *reader, uint32_t *layers,
                             const struct layer_row **rows)
{
    size_t count = 0;
    for (size_t i = 0; i < reader->trace->count; i++) {
        const struct layer_row *row = &reader->trace->rows[i];
        uint32_t layer = row->is_forward ? LAYER_NONE : called_layer(reader, row);
        if (layer == LAYER_NONE)
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

/* The recorder's backward row of a layer lasts until the backward of the next layer begins, so it
 * also has the gradients of whatever runs between the two. A parameter that is used twice, such as
 * the table of words that is also the head, has a gradient from the backward of its last use on.
 * The walk adds that gradient at the first use, where autograd hands it over. */
static bool add_backward_points(struct layer_reader *reader, const uint32_t *layers,
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
            known += reader->gradients[low - 1];
            early += reader->gradients[low - 1];
            early -= reader->has_gradients ? added_bytes(model, &model->layers[low - 1]) : 0;
        }
        point.early_elements = positive(early) / model->element_size;
        point.peak_bytes = rows[i]->peak_bytes - known;
        set_workspaces(&point, rows[i]);
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

bool layer_read_points(struct layer_reader *reader, struct error *err)
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
