/* Makes layers and units of the tables of embeddings in a list, which the chain takes for a part of
 * what surrounds them. */
#include "analysis/shard/snapshot_reader.h"

/* Where the tables of a list become layers. */
struct insertion {
    size_t old;    /* the layer that they were part of */
    size_t at;     /* of the first of them */
    size_t tensor; /* theirs follow it */
    uint32_t count, unit;
    int64_t output;
};

/* False if they lie in the midst of a layer. */
static bool find_place(const struct shard_model *model, struct insertion *place)
{
    place->old = 0;
    while (place->old < model->layer_count && model->layers[place->old].end_tensor <= place->tensor)
        place->old++;
    if (place->old == model->layer_count)
        return false;
    const struct shard_layer *old = &model->layers[place->old];
    size_t end = place->tensor + place->count;
    bool is_last = end == old->end_tensor;
    place->at = place->old + is_last;
    place->unit = SHARD_ROOT;
    for (size_t i = 0; i < place->at; i++)
        if (model->layers[i].unit > place->unit)
            place->unit = model->layers[i].unit;
    place->unit++;
    return end <= old->end_tensor && (is_last || place->tensor == old->first_tensor);
}

static bool make_units(struct shard_model *model, const struct insertion *place, struct error *err)
{
    struct shard_unit unit = {.name = {"", 0}, .lacks_input_gradient = true};
    for (size_t i = 0; i < place->count; i++)
        if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                      unit))
            return false;
    for (size_t i = model->unit_count; i-- > place->unit;)
        model->units[i] = i >= place->unit + place->count ? model->units[i - place->count] : unit;
    for (size_t i = 0; i < model->layer_count; i++)
        model->layers[i].unit += model->layers[i].unit >= place->unit ? place->count : 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        model->tensors[i].unit += model->tensors[i].unit >= place->unit ? place->count : 0;
    for (uint32_t i = 0; i < place->count; i++)
        model->tensors[place->tensor + i].unit = place->unit + i;
    return true;
}

static bool make_layers(struct shard_model *model, const struct insertion *place, struct error *err)
{
    struct shard_layer *old;
    for (size_t i = 0; i < place->count; i++)
        if (!vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                      (struct shard_layer){0}))
            return false;
    old = &model->layers[place->old];
    if (place->at > place->old)
        old->end_tensor = (uint32_t)place->tensor;
    else
        old->first_tensor = (uint32_t)place->tensor + place->count;
    for (size_t i = model->layer_count; i-- > place->at + place->count;)
        model->layers[i] = model->layers[i - place->count];
    for (uint32_t i = 0; i < place->count; i++)
        model->layers[place->at + i] = (struct shard_layer){
            .unit = place->unit + i,
            .first_tensor = (uint32_t)place->tensor + i,
            .end_tensor = (uint32_t)place->tensor + i + 1,
            .is_added = true,
            .output = place->output,
        };
    return true;
}

/* The point of backward at which a table's gradient is made belongs to the table. The other points
 * of the old layer beyond the tables belong to no unit, so that no unit runs twice. */
static void move_point(const struct insertion *place, struct shard_point *point, bool *has_run)
{
    size_t tensor = point->first_tensor, layer = point->layer;
    bool is_table = point->is_backward && tensor < point->end_tensor && tensor >= place->tensor &&
                    tensor < place->tensor + place->count;
    point->layer += layer >= place->at ? place->count : 0;
    if (is_table) {
        point->layer = (uint32_t)(place->at + (tensor - place->tensor));
        point->is_outside_unit = false;
        *has_run = true;
    } else if (point->is_backward && layer == place->old) {
        point->is_outside_unit |= *has_run == (place->at == place->old);
    }
}

/* Their forward points lie between those of the layers around them. */
static bool make_points(const struct snapshot_reader *reader, const struct insertion *place,
                        struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t bytes = place->at > 0 ? model->points[place->at - 1].end_bytes : reader->start_bytes;
    struct shard_point point = {.peak_bytes = bytes, .end_bytes = bytes};
    bool has_run = false;
    for (size_t i = 0; i < model->point_count; i++)
        move_point(place, &model->points[i], &has_run);
    for (size_t i = 0; i < place->count; i++)
        if (!vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                      point))
            return false;
    for (size_t i = model->point_count; i-- > place->at + place->count;)
        model->points[i] = model->points[i - place->count];
    for (size_t i = 0; i < place->count; i++) {
        model->points[place->at + i] = point;
        model->points[place->at + i].layer = (uint32_t)(place->at + i);
    }
    return true;
}

/* Frozen parameters move tensors; then lists stay part of the layers around them. */
bool snapshot_add_tables(const struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    if (model->tensor_count != reader->all_made)
        return true;
    for (size_t i = 0; i < reader->all_made; i++) {
        const struct made_gradient *made = &reader->made[i];
        bool is_first = made->list > 0 && (i == 0 || made[-1].list != made->list + 1);
        struct insertion place = {.count = made->list, .output = made->output};
        if (!is_first)
            continue;
        place.tensor = snapshot_tensor_of(reader, i + made->list - 1);
        if (find_place(model, &place) &&
            !(make_units(model, &place, err) && make_layers(model, &place, err) &&
              make_points(reader, &place, err)))
            return false;
    }
    return true;
}
