/* Adds the frozen parameters to the model of a snapshot. Those of blocks that are frozen as a
 * whole, and of no block, become layers before all others. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

/* New layers: one of the root, and the blocks. */
static size_t new_layers(const struct held_parameters *held)
{
    return 1 + held->front;
}

static size_t layer_of(const struct held_parameters *held, const struct held_parameter *row)
{
    if (row->layer == FROZEN_ROOT)
        return 0;
    return row->layer >= FROZEN_FRONT ? 1 + (row->layer - FROZEN_FRONT)
                                      : new_layers(held) + row->layer;
}

static bool is_frozen(const struct held_parameter *row)
{
    return !row->is_trained && !row->is_buffer && row->layer != FROZEN_NOWHERE;
}

/* Units of the blocks come before the others, because units are in the order of forward. */
static bool add_units(struct shard_model *model, uint32_t count, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                      (struct shard_unit){.name = {"", 0}}))
            return false;
    for (size_t i = model->unit_count; i-- > 1;)
        model->units[i] =
            i > count ? model->units[i - count] : (struct shard_unit){.name = {"", 0}};
    for (size_t i = 0; i < model->layer_count; i++)
        model->layers[i].unit += model->layers[i].unit != SHARD_ROOT ? count : 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        model->tensors[i].unit += model->tensors[i].unit != SHARD_ROOT ? count : 0;
    return true;
}

static bool add_layers(struct shard_model *model, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                      (struct shard_layer){0}))
            return false;
    for (size_t i = model->layer_count; i-- > 0;)
        model->layers[i] = i >= count
                               ? model->layers[i - count]
                               : (struct shard_layer){.unit = (uint32_t)i, /* the root's is 0 */
                                                      .is_added = true};
    return true;
}

/* The new layers run before the pass, or in its first stretch. If the calls of blocks are known,
 * each has the memory of its own. */
static bool set_points(struct snapshot_reader *reader, const struct held_parameters *held,
                       struct error *err)
{
    struct shard_model *model = reader->model;
    struct shard_point *points = model->points, most = points[new_layers(held)];
    if (!snapshot_front_points(reader, NULL, 0, &points[0], err))
        return false;
    if (most.peak_bytes < points[0].peak_bytes)
        most.peak_bytes = points[0].peak_bytes;
    for (size_t i = 0; i < new_layers(held); i++) {
        points[i].peak_bytes = most.peak_bytes;
        points[i].end_bytes = most.end_bytes;
    }
    if (held->front > 0) /* the embedding, before blocks that take more */
        points[0].peak_bytes = points[0].end_bytes = reader->start_bytes;
    return !held->has_called ||
           snapshot_front_points(reader, reader->front.blocks, reader->front.block_count,
                                 &points[held->called], err);
}

static bool add_points(struct snapshot_reader *reader, const struct held_parameters *held,
                       struct error *err)
{
    struct shard_model *model = reader->model;
    size_t count = new_layers(held);
    for (size_t i = 0; i < count; i++)
        if (!vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                      (struct shard_point){0}))
            return false;
    for (size_t i = model->point_count; i-- > 0;) {
        model->points[i] = i >= count ? model->points[i - count] : (struct shard_point){0};
        model->points[i].layer = (uint32_t)(i >= count ? model->points[i].layer + count : i);
    }
    return set_points(reader, held, err);
}

/* Puts frozen tensors behind the trained ones of their layer; `moved` has the new places. */
static bool rebuild_tensors(struct snapshot_reader *reader, const struct held_parameters *held,
                            uint32_t *moved, struct error *err)
{
    struct shard_model *model = reader->model;
    struct shard_tensor *old = model->tensors;
    size_t old_capacity = model->tensor_capacity;
    bool ok = true;
    model->tensors = NULL;
    model->tensor_count = model->tensor_capacity = 0;
    for (size_t i = 0; ok && i < model->layer_count; i++) {
        struct shard_layer *layer = &model->layers[i];
        uint32_t first = layer->first_tensor, end = layer->end_tensor;
        layer->first_tensor = (uint32_t)model->tensor_count;
        for (uint32_t k = first; ok && k < end; k++) {
            moved[k] = (uint32_t)model->tensor_count;
            ok = vec_push(model->tensors, model->tensor_count, model->tensor_capacity,
                          model->budget, err, old[k]);
        }
        for (size_t k = 0; ok && k < held->count; k++) {
            const struct held_parameter *row = &held->rows[k];
            if (is_frozen(row) && layer_of(held, row) == i)
                ok = vec_push(model->tensors, model->tensor_count, model->tensor_capacity,
                              model->budget, err,
                              (struct shard_tensor){.elements = row->bytes / ELEMENT,
                                                    .place = row->place,
                                                    .unit = layer->unit,
                                                    .frozen = true});
        }
        layer->end_tensor = (uint32_t)model->tensor_count;
    }
    vec_free(old, old_capacity, sizeof(*old), model->budget);
    return ok;
}

/* Frozen tensors go with the first gradient of their layer, which is that of the last one trained.
 * With them, a unit runs until it has made the gradient of its input. What lies before the first
 * recorded layer goes with that one. */
static void set_range(const struct shard_model *model, size_t added, const uint32_t *moved,
                      struct shard_point *point)
{
    const struct shard_layer *layer = &model->layers[point->layer];
    bool any = point->end_tensor > point->first_tensor;
    uint32_t first = any ? moved[point->first_tensor] : layer->end_tensor;
    uint32_t end = any ? moved[point->end_tensor - 1] + 1 : layer->end_tensor;
    uint32_t trained = layer->end_tensor;
    while (trained > layer->first_tensor && model->tensors[trained - 1].frozen)
        trained--;
    point->first_tensor = first;
    point->end_tensor = end == trained ? layer->end_tensor : end;
    if (!point->is_backward || point->is_outside_unit) {
        point->first_tensor = point->end_tensor;
        point->is_outside_unit &= trained == layer->end_tensor;
        return;
    }
    if (trained == layer->first_tensor)
        point->first_tensor = trained;
    if (point->layer == added && point->first_tensor == layer->first_tensor)
        point->first_tensor = 0;
}

bool snapshot_add_frozen(struct snapshot_reader *reader, const struct held_parameters *held,
                         struct error *err)
{
    struct shard_model *model = reader->model;
    size_t added = new_layers(held);
    bool has_any = false;
    for (size_t i = 0; i < held->count; i++)
        has_any |= is_frozen(&held->rows[i]);
    if (!has_any)
        return true;
    uint32_t *moved = calloc(model->tensor_count + 1, sizeof(*moved));
    bool ok = (moved || error_out_of_memory(err)) && add_units(model, (uint32_t)held->front, err) &&
              add_layers(model, added, err) && add_points(reader, held, err) &&
              rebuild_tensors(reader, held, moved, err);
    for (size_t i = 0; ok && i < model->point_count; i++)
        set_range(model, added, moved, &model->points[i]);
    free(moved);
    return ok;
}
