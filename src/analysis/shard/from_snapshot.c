#include "analysis/shard/from_snapshot.h"

#include <stdlib.h>

#define ELEMENT 4 /* a snapshot has no types: float32 */

/* A gradient, in the order of the backward pass. */
struct made {
    uint32_t item;
    uint32_t layer;
    int64_t bytes;
};

struct reader {
    struct shard_model *model;
    const struct timeline *timeline;
    const struct forward_chain *chain;
    const struct symbols *symbols;
    struct phases phases;
    struct categories categories;
    int64_t *change;  /* by item of the pass: of all that the points count */
    uint32_t *latest; /* by item of backward: 1 + the last forward item of which something that
                         backward frees is still there */
    struct made *made;
    size_t made_count;
    int64_t start_bytes;     /* counted, before the pass */
    int64_t parameter_bytes; /* when backward begins */
};

static bool is_counted(uint8_t category)
{
    return category != CATEGORY_PARAMETER && category != CATEGORY_GRADIENT &&
           category != CATEGORY_OPTIMIZER_STATE;
}

static uint32_t end_of(uint32_t free_requested, uint32_t free_completed)
{
    return free_completed != EVENT_NEVER ? free_completed : free_requested;
}

/* `alloc` is negative for what is older than the trace. */
static void count_block(struct reader *reader, int64_t alloc, uint32_t freed, int64_t size,
                        uint8_t category)
{
    const struct forward_chain *chain = reader->chain;
    int64_t first = chain->first, end = chain->end;
    if (category == CATEGORY_PARAMETER && alloc < chain->backward && freed >= chain->backward)
        reader->parameter_bytes += size;
    if (!is_counted(category) || alloc >= end || freed < first)
        return;
    if (alloc < first)
        reader->start_bytes += size;
    else
        reader->change[alloc - first] += size;
    if (freed < end)
        reader->change[freed - first] -= size;
}

static void count_blocks(struct reader *reader)
{
    const struct timeline *timeline = reader->timeline;
    const struct forward_chain *chain = reader->chain;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        if (block->in_active)
            count_block(reader, -1, end_of(block->free_requested, block->free_completed),
                        (int64_t)block->size, reader->categories.of_preexisting[i]);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        uint32_t freed = end_of(life->free_requested, life->free_completed);
        uint8_t category = reader->categories.of_lifetime[i];
        int64_t size = (int64_t)trace_size(timeline->trace, life->alloc);
        count_block(reader, life->alloc, freed, size, category);
        if (category == CATEGORY_GRADIENT && life->alloc >= chain->backward &&
            life->alloc < chain->end && size >= ELEMENT)
            reader->made[reader->made_count++] = (struct made){.item = life->alloc, .bytes = size};
        bool is_kept = category_is_saved((enum category)category) && life->alloc >= chain->first &&
                       life->alloc < chain->backward && freed >= chain->backward &&
                       freed < chain->end;
        uint32_t *latest = is_kept ? &reader->latest[freed - chain->backward] : NULL;
        if (latest && *latest < life->alloc + 1)
            *latest = life->alloc + 1;
    }
}

static uint32_t layer_of_item(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (chain->elements[middle].first_item <= item)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* While a layer runs backward, the last activation that is still there is one of its own. */
static void set_layers(struct reader *reader)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t low = (uint32_t)chain->count - 1;
    for (size_t i = chain->end - chain->backward; i-- > 1;)
        if (reader->latest[i - 1] < reader->latest[i])
            reader->latest[i - 1] = reader->latest[i];
    for (size_t i = 0; i < reader->made_count; i++) {
        uint32_t latest = reader->latest[reader->made[i].item - chain->backward];
        uint32_t layer = latest > 0 ? layer_of_item(chain, latest - 1) : 0;
        low = layer < low ? layer : low;
        reader->made[i].layer = low;
    }
}

static bool add_layer(struct reader *reader, size_t at, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct chain_element *element = &reader->chain->elements[at];
    const struct chain_part *part = &reader->chain->parts[element->first_part];
    struct shard_layer layer = {.unit = SHARD_ROOT,
                                .first_tensor = (uint32_t)model->tensor_count,
                                .saved = element->activation_bytes,
                                .output = element->output_bytes,
                                .us = (double)element->forward_ns / 1e3};
    if (part->loop != NO_LOOP) {
        layer.unit = (uint32_t)model->unit_count;
        if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                      (struct shard_unit){.name = symbols_text(reader->symbols, part->name)}))
            return false;
    }
    /* Gradients are made in the reverse order. */
    for (size_t i = reader->made_count; i-- > 0;) {
        if (reader->made[i].layer > at)
            break;
        if (reader->made[i].layer == at &&
            !vec_push(model->tensors, model->tensor_count, model->tensor_capacity, model->budget,
                      err,
                      (struct shard_tensor){.elements = reader->made[i].bytes / ELEMENT,
                                            .unit = layer.unit}))
            return false;
    }
    while (reader->made_count > 0 && reader->made[reader->made_count - 1].layer == at)
        reader->made_count--;
    layer.end_tensor = (uint32_t)model->tensor_count;
    return vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                    layer);
}

/* A stretch of items of the pass, from where the last one ended. */
struct stretch {
    uint32_t item;
    int64_t bytes;
};

static bool add_point(struct reader *reader, struct stretch *stretch, uint32_t end,
                      struct shard_point point, struct error *err)
{
    struct shard_model *model = reader->model;
    point.peak_bytes = stretch->bytes;
    for (; stretch->item < end; stretch->item++) {
        stretch->bytes += reader->change[stretch->item - reader->chain->first];
        if (point.peak_bytes < stretch->bytes)
            point.peak_bytes = stretch->bytes;
    }
    point.end_bytes = stretch->bytes;
    if (point.end_bytes < 0)
        point.end_bytes = 0;
    if (point.peak_bytes < point.end_bytes)
        point.peak_bytes = point.end_bytes;
    return vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                    point);
}

/* The first item of backward in which a layer below `layer` runs. */
static uint32_t backward_end(const struct reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t first = chain->elements[layer].first_item, low = 0,
             high = chain->end - chain->backward;
    while (layer > 0 && low < high) { /* `latest` falls */
        uint32_t middle = low + (high - low) / 2;
        if (reader->latest[middle] > first)
            low = middle + 1;
        else
            high = middle;
    }
    return layer > 0 ? chain->backward + low : chain->end;
}

static bool add_points(struct reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct forward_chain *chain = reader->chain;
    struct stretch stretch = {chain->first, reader->start_bytes};
    for (size_t i = 0; i < chain->count; i++) {
        uint32_t end = i + 1 < chain->count ? chain->elements[i + 1].first_item : chain->backward;
        if (!add_point(reader, &stretch, end, (struct shard_point){.layer = (uint32_t)i}, err))
            return false;
    }
    for (size_t i = chain->count; i-- > 0;) {
        const struct shard_layer *layer = &model->layers[i];
        struct shard_point point = {.layer = (uint32_t)i,
                                    .is_backward = true,
                                    .first_tensor = layer->first_tensor,
                                    .end_tensor = layer->end_tensor};
        if (!add_point(reader, &stretch, backward_end(reader, i), point, err))
            return false;
    }
    model->end_bytes = stretch.bytes > 0 ? stretch.bytes : 0;
    return true;
}

static bool read_all(struct reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    count_blocks(reader);
    if (reader->made_count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "the backward pass makes no gradients, which tell the parameters; record "
                         "a step after zero_grad(set_to_none=True)");
    set_layers(reader);
    if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                  (struct shard_unit){.name = {"", 0}}))
        return false;
    for (size_t i = 0; i < reader->chain->count; i++)
        if (!add_layer(reader, i, err))
            return false;
    model->element_size = ELEMENT;
    model->has_tensors = model->has_backward = true;
    int64_t rest = reader->parameter_bytes - shard_elements(model) * ELEMENT;
    model->buffer_bytes = rest > 0 ? rest : 0;
    return add_points(reader, err) && shard_model_drop_units(model, err);
}

static bool make_room(struct reader *reader, size_t items, struct error *err)
{
    reader->change = calloc(items + 1, sizeof(*reader->change));
    reader->latest = calloc(items + 1, sizeof(*reader->latest));
    reader->made = calloc(items + 1, sizeof(*reader->made));
    return (reader->change && reader->latest && reader->made) || error_out_of_memory(err);
}

bool shard_model_from_snapshot(struct shard_model *model, const struct timeline *timeline,
                               struct site_table *sites, const struct forward_chain *chain,
                               const struct symbols *symbols, struct error *err)
{
    struct reader reader = {
        .model = model, .timeline = timeline, .chain = chain, .symbols = symbols};
    size_t items = chain->end - chain->first;
    size_t bytes = items * (sizeof(*reader.change) + sizeof(*reader.latest) + sizeof(*reader.made));
    if (!budget_take(model->budget, bytes, err))
        return false;
    bool ok = phases_build(&reader.phases, timeline, sites, err) &&
              categories_assign(timeline, sites, &reader.phases, &reader.categories, err) &&
              make_room(&reader, items, err) && read_all(&reader, err);
    categories_release(&reader.categories);
    phases_release(&reader.phases);
    free(reader.change);
    free(reader.latest);
    free(reader.made);
    budget_give(model->budget, bytes);
    return ok;
}
