#include "analysis/shard/model.h"

#include <inttypes.h>
#include <stdlib.h>

void shard_model_init(struct shard_model *model, struct budget *budget)
{
    *model = (struct shard_model){.element_size = sizeof(float), .budget = budget};
}

void shard_model_release(struct shard_model *model)
{
    struct budget *budget = model->budget;
    vec_free(model->tensors, model->tensor_capacity, sizeof(*model->tensors), budget);
    vec_free(model->layers, model->layer_capacity, sizeof(*model->layers), budget);
    vec_free(model->points, model->point_capacity, sizeof(*model->points), budget);
    vec_free(model->units, model->unit_capacity, sizeof(*model->units), budget);
    shard_model_init(model, budget);
}

static bool too_large(const char *what, struct error *err)
{
    return error_set(err, STATUS_LIMIT, "%s add up to more than %" PRId64 " TiB", what,
                     SHARD_MOST_BYTES >> 40);
}

void shard_model_set_type(struct shard_model *model, int64_t element_size)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        struct shard_tensor *tensor = &model->tensors[i];
        tensor->elements = tensor->elements * model->element_size / element_size;
        if (tensor->least_rows > 1)
            tensor->least_rows = tensor->least_rows * model->element_size / element_size;
    }
    for (size_t i = 0; i < model->layer_count; i++)
        model->layers[i].packed = model->layers[i].packed * model->element_size / element_size;
    for (size_t i = 0; i < model->point_count; i++) {
        struct shard_point *point = &model->points[i];
        point->packed_elements = point->packed_elements * model->element_size / element_size;
        point->early_elements = point->early_elements * model->element_size / element_size;
    }
    model->element_size = element_size;
    model->assumes_type = false;
}

bool shard_model_check(const struct shard_model *model, struct error *err)
{
    int64_t left = SHARD_MOST_BYTES / 8; /* elements, most of at most 8 bytes */
    size_t trained = 0;
    if (model->tensor_count == 0)
        return error_set(err, STATUS_BAD_INPUT, "no parameters are known");
    if (model->layer_count == 0 || model->point_count == 0)
        return error_set(err, STATUS_BAD_INPUT, "no layers are known");
    for (size_t i = 0; i < model->tensor_count; i++) {
        if (model->tensors[i].elements > left)
            return too_large("parameters", err);
        left -= model->tensors[i].elements;
        trained += shard_is_trained(&model->tensors[i]);
    }
    if (trained == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "no parameter gets a gradient, so there is nothing to train");
    for (size_t i = 0; i < model->point_count; i++)
        if (model->points[i].peak_bytes > SHARD_MOST_BYTES ||
            model->points[i].end_bytes > SHARD_MOST_BYTES)
            return too_large("activations", err);
    if (model->buffer_bytes > SHARD_MOST_BYTES || model->batch_bytes > SHARD_MOST_BYTES ||
        model->library_bytes > SHARD_MOST_BYTES || model->end_bytes > SHARD_MOST_BYTES)
        return too_large("buffers", err);
    return true;
}

void shard_point_clamp(struct shard_point *point)
{
    point->fixed_bytes = shard_least(point->fixed_bytes, point->peak_bytes);
    point->limited_bytes =
        shard_least(point->limited_bytes, point->peak_bytes - point->fixed_bytes);
    point->limit_bytes = shard_least(point->limit_bytes, SHARD_MOST_BYTES);
    if (point->limit_bytes < point->limited_bytes)
        point->limit_bytes = point->limited_bytes;
}

int64_t shard_elements(const struct shard_model *model)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        sum += model->tensors[i].elements;
    return sum;
}

static bool add_equal_layer(struct shard_model *model, size_t i, const struct shard_sizes *sizes,
                            struct error *err)
{
    size_t n = sizes->layers;
    int64_t each = sizes->elements / (int64_t)n, saved = sizes->activation_bytes / (int64_t)n;
    uint32_t unit = (uint32_t)i + 1, tensor = (uint32_t)i;
    if (i == n - 1) {
        each = sizes->elements - each * (int64_t)(n - 1);
        saved = sizes->activation_bytes - saved * (int64_t)(n - 1);
    }
    struct shard_layer layer = {.unit = unit,
                                .first_tensor = tensor,
                                .end_tensor = tensor + 1,
                                .saved = saved,
                                .output = sizes->output_bytes};
    return vec_push(model->tensors, model->tensor_count, model->tensor_capacity, model->budget, err,
                    (struct shard_tensor){.elements = each, .unit = unit}) &&
           vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                    layer) &&
           vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                    (struct shard_unit){.name = {"", 0}});
}

bool shard_model_by_hand(struct shard_model *model, const struct shard_sizes *sizes,
                         struct error *err)
{
    int64_t held = 0;
    model->element_size = sizes->element_size;
    if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                  (struct shard_unit){.name = {"", 0}}))
        return false;
    for (size_t i = 0; i < sizes->layers; i++)
        if (!add_equal_layer(model, i, sizes, err))
            return false;
    for (size_t i = 0; i < sizes->layers; i++) {
        held += model->layers[i].saved;
        if (!vec_push(
                model->points, model->point_count, model->point_capacity, model->budget, err,
                (struct shard_point){.layer = (uint32_t)i, .peak_bytes = held, .end_bytes = held}))
            return false;
    }
    for (size_t i = sizes->layers; i-- > 0;) {
        const struct shard_layer *layer = &model->layers[i];
        if (!vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                      (struct shard_point){.layer = (uint32_t)i,
                                           .is_backward = true,
                                           .first_tensor = layer->first_tensor,
                                           .end_tensor = layer->end_tensor,
                                           .peak_bytes = held,
                                           .end_bytes = held - layer->saved}))
            return false;
        held -= layer->saved;
    }
    return true;
}

static void drop_empty_units(struct shard_model *model, uint32_t *places)
{
    uint32_t kept = 1;
    for (size_t i = 0; i < model->tensor_count; i++)
        places[model->tensors[i].unit] = 1;
    for (size_t i = 1; i < model->unit_count; i++) {
        places[i] = places[i] ? kept : SHARD_ROOT;
        if (places[i])
            model->units[kept++] = model->units[i];
    }
    places[SHARD_ROOT] = SHARD_ROOT;
    model->unit_count = kept;
    for (size_t i = 0; i < model->tensor_count; i++)
        model->tensors[i].unit = places[model->tensors[i].unit];
    for (size_t i = 0; i < model->layer_count; i++)
        model->layers[i].unit = places[model->layers[i].unit];
}

bool shard_model_mixes(const struct shard_model *model)
{
    bool *trains = calloc(model->unit_count, sizeof(*trains)), mixes = false;
    for (size_t i = 0; trains && i < model->tensor_count; i++)
        trains[model->tensors[i].unit] |= shard_is_trained(&model->tensors[i]);
    for (size_t i = 0; trains && i < model->tensor_count; i++)
        mixes |= !shard_is_trained(&model->tensors[i]) && trains[model->tensors[i].unit];
    free(trains);
    return mixes;
}

/* The recurrent layers of cuDNN take their parameters as one tensor. torch.nn.LSTM keeps them so,
 * but what gathers them or makes them views of its own does not: then each call packs a copy, and
 * keeps it for backward. */
void shard_model_set_packed(struct shard_model *model)
{
    uint32_t counted = 0; /* layers */
    int64_t sum = 0;
    for (size_t i = 0; i < model->point_count; i++) {
        struct shard_point *point = &model->points[i];
        while (counted <= point->layer)
            sum += model->layers[counted++].packed;
        while (counted > point->layer + 1)
            sum -= model->layers[--counted].packed;
        point->packed_elements = sum;
    }
}

bool shard_model_drop_units(struct shard_model *model, struct error *err)
{
    uint32_t *places = calloc(model->unit_count, sizeof(*places));
    if (!places)
        return error_out_of_memory(err);
    drop_empty_units(model, places);
    free(places);
    return true;
}
