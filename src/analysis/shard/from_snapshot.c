#include "analysis/shard/from_snapshot.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"

/* Gradients are made in the reverse order. */
static bool add_tensors(struct snapshot_reader *reader, size_t at, struct shard_layer *layer,
                        struct error *err)
{
    struct shard_model *model = reader->model;
    for (; reader->made_count > 0 && reader->made[reader->made_count - 1].layer == at;
         reader->made_count--) {
        const struct made_gradient *made = &reader->made[reader->made_count - 1];
        int64_t elements = made->bytes / ELEMENT;
        uint32_t unit = made->is_behind ? SHARD_ROOT : layer->unit;
        layer->packed += made->packs ? elements : 0;
        if (!vec_push(
                model->tensors, model->tensor_count, model->tensor_capacity, model->budget, err,
                (struct shard_tensor){.elements = elements, .unit = unit, .packs = made->packs}))
            return false;
    }
    return true;
}

static bool add_layer(struct snapshot_reader *reader, size_t at, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct forward_chain *chain = reader->chain;
    const struct chain_part *part = snapshot_part(reader, at);
    struct shard_layer layer = {.unit = SHARD_ROOT,
                                .first_tensor = (uint32_t)model->tensor_count,
                                .is_added = at < SHARD_FIRST_ELEMENT};
    if (at > 0) {
        const struct chain_element *element = &chain->elements[at - 1];
        layer.saved = element->activation_bytes;
        layer.output = element->output_bytes;
        layer.passes = snapshot_passes(reader, at);
        layer.passed = element->passed_bytes;
        layer.is_sum = snapshot_is_sum(reader, at);
        layer.us = (double)element->forward_ns / 1e3;
    }
    if (snapshot_is_unit(reader, at)) {
        string_id name = at > 0 ? part->name : chain->loops[part->loop].name;
        layer.unit = (uint32_t)model->unit_count;
        if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                      (struct shard_unit){.name = symbols_text(reader->symbols, name)}))
            return false;
        layer.beside = snapshot_beside(reader, at);
    }
    if (!add_tensors(reader, at, &layer, err))
        return false;
    layer.end_tensor = (uint32_t)model->tensor_count;
    return vec_push(model->layers, model->layer_count, model->layer_capacity, model->budget, err,
                    layer);
}

/* A stretch of items of the pass, from where the last one ended. */
struct stretch {
    uint32_t item;
    int64_t bytes, fixed; /* and workspaces among them that a larger batch does not enlarge */
};

static bool add_point(struct snapshot_reader *reader, struct stretch *stretch, uint32_t end,
                      struct shard_point point, struct error *err)
{
    struct shard_model *model = reader->model;
    int64_t growing = stretch->bytes - stretch->fixed;
    point.peak_bytes = stretch->bytes;
    for (; stretch->item < end; stretch->item++) {
        uint32_t at = stretch->item - reader->chain->first;
        stretch->bytes += reader->change[at];
        stretch->fixed += reader->fixed[at];
        if (point.peak_bytes < stretch->bytes)
            point.peak_bytes = stretch->bytes;
        if (growing < stretch->bytes - stretch->fixed)
            growing = stretch->bytes - stretch->fixed;
    }
    point.fixed_bytes = point.peak_bytes - growing;
    point.end_bytes = stretch->bytes;
    if (point.end_bytes < 0)
        point.end_bytes = 0;
    if (point.peak_bytes < point.end_bytes)
        point.peak_bytes = point.end_bytes;
    return vec_push(model->points, model->point_count, model->point_capacity, model->budget, err,
                    point);
}

/* The first item of backward in which a layer below `layer` runs. */
static uint32_t backward_end(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t low = 0, high = chain->end - chain->backward;
    while (layer > 0 && low < high) { /* `running` falls */
        uint32_t middle = low + (high - low) / 2;
        if (reader->running[middle] >= layer)
            low = middle + 1;
        else
            high = middle;
    }
    return layer > 0 ? chain->backward + low : chain->end;
}

/* Where the operator that made a gradient has ended, as far as it only frees, what it had saved, or
 * makes scratch space: a sum over a batch, which is the gradient of a bias, allocates its output
 * first. */
static uint32_t after_operator(const struct snapshot_reader *reader, uint32_t item, uint32_t end)
{
    const struct timeline *timeline = reader->timeline;
    size_t next = births_from(timeline, item);
    while (item < end) {
        while (next < timeline->lifetime_count && timeline->lifetimes[next].alloc < item)
            next++;
        if (next >= timeline->lifetime_count || timeline->lifetimes[next].alloc > item) {
            item++;
            continue;
        }
        const struct lifetime *life = &timeline->lifetimes[next];
        uint32_t freed = snapshot_end_of(life->free_requested, life->free_completed);
        if (freed >= end || !birth_is_leaf(timeline, next))
            break;
        item = freed + 1;
    }
    return item;
}

/* The last operators of a layer may run when nothing that it kept is left, such as those that index
 * its input. The next layer runs at the latest when it frees what it kept or makes a gradient, at
 * the item `next`. What was made last of what is there then is of its first operator. */
static uint32_t behind_last_operators(const struct snapshot_reader *reader, uint32_t item,
                                      uint32_t first_gradient)
{
    const struct timeline *timeline = reader->timeline;
    const struct forward_chain *chain = reader->chain;
    const uint32_t *latest = reader->latest;
    uint32_t most = item < chain->end ? snapshot_output_end(reader, item) : EVENT_NEVER;
    if (most < chain->end) /* the next layer has made its last gradient */
        item = after_operator(reader, item, most);
    else
        most = chain->end;
    uint32_t next = item, made = item;
    while (next < most && next < first_gradient &&
           latest[next - chain->backward] == latest[item - chain->backward])
        next++;
    for (size_t i = births_from(timeline, item);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < next; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        if (snapshot_end_of(life->free_requested, life->free_completed) >= next)
            made = life->alloc;
    }
    return made;
}

/* A stretch for each gradient, from when it is made, and one before the first: so each moment has
 * the gradients that were there. A unit has run when it has made its last gradient: what follows in
 * its layer is of modules without parameters. */
static bool add_backward(struct snapshot_reader *reader, struct stretch *stretch, size_t at,
                         size_t *made, struct error *err)
{
    const struct shard_layer *layer = &reader->model->layers[at];
    struct shard_point point = {.layer = (uint32_t)at,
                                .is_backward = true,
                                .first_tensor = layer->end_tensor,
                                .end_tensor = layer->end_tensor};
    uint32_t end = backward_end(reader, at);
    size_t first = *made;
    while (first < reader->all_made && reader->made[first].layer == at)
        first++;
    if (at > 0)
        end = behind_last_operators(
            reader, end, first < reader->all_made ? reader->made[first].item : reader->chain->end);
    uint32_t last = end;
    while (*made < reader->all_made && reader->made[*made].layer == at) {
        const struct made_gradient *gradient = &reader->made[(*made)++];
        if (gradient->item > stretch->item &&
            !add_point(reader, stretch, gradient->item, point, err))
            return false;
        point.end_tensor = point.first_tensor--; /* the last tensor's gradient is the first */
        if (gradient->is_swapped && gradient[1].layer == at) {
            point.first_tensor--;
            gradient = &reader->made[(*made)++];
        }
        last = gradient->item + 1;
    }
    last = last < end ? after_operator(reader, last, end) : last;
    if (layer->unit != SHARD_ROOT && last < end) {
        if (!add_point(reader, stretch, last, point, err))
            return false;
        point.is_outside_unit = true;
        point.first_tensor = point.end_tensor;
    }
    return add_point(reader, stretch, end, point, err);
}

static bool add_points(struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct forward_chain *chain = reader->chain;
    struct stretch stretch = {chain->first, reader->start_bytes, 0};
    size_t made = 0;
    for (size_t i = 0; i <= chain->count; i++) {
        uint32_t end = i < chain->count ? chain->elements[i].first_item : chain->backward;
        if (!add_point(reader, &stretch, end, (struct shard_point){.layer = (uint32_t)i}, err))
            return false;
    }
    for (size_t i = chain->count + 1; i-- > 0;)
        if (!add_backward(reader, &stretch, i, &made, err))
            return false;
    struct shard_point *last = &model->points[model->point_count - 1];
    last->end_bytes = model->end_bytes = snapshot_end_bytes(reader);
    last->peak_bytes = last->peak_bytes < last->end_bytes ? last->end_bytes : last->peak_bytes;
    return true;
}

static bool add_frozen(struct snapshot_reader *reader, struct error *err)
{
    struct held_parameters held = {0};
    bool ok = snapshot_find_front(reader, err) && snapshot_find_held(reader, &held, err) &&
              snapshot_place_frozen(reader, &held, err) &&
              (held.count == 0 || snapshot_order_tensors(reader->model, &held, err)) &&
              snapshot_add_frozen(reader, &held, err);
    vec_free(held.rows, held.capacity, sizeof(*held.rows), reader->model->budget);
    vec_free(reader->front.calls, reader->front.capacity, sizeof(*reader->front.calls),
             reader->model->budget);
    vec_free(reader->front.blocks, reader->front.block_capacity, sizeof(*reader->front.blocks),
             reader->model->budget);
    return ok;
}

/* What the categories do not know as parameters may be among what looks like state. */
static void set_buffers(struct snapshot_reader *reader)
{
    struct shard_model *model = reader->model;
    int64_t rest = reader->parameter_bytes - shard_elements(model) * ELEMENT;
    int64_t averages = model->average_bytes + (rest < 0 ? rest : 0);
    model->average_bytes = averages > 0 ? averages : 0;
    model->buffer_bytes = (rest > 0 ? rest : 0) + model->average_bytes;
    model->unknown_bytes = model->before_bytes > 0 && rest > 0 ? rest : 0;
}

static bool read_all(struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    snapshot_count_blocks(reader);
    if (reader->made_count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "the backward pass makes no gradients, which tell the parameters; record "
                         "a step on one device, without sharding and after "
                         "zero_grad(set_to_none=True)");
    reader->all_made = reader->made_count;
    snapshot_set_layers(reader);
    snapshot_find_tables(reader);
    if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                  (struct shard_unit){.name = {"", 0}}))
        return false;
    for (size_t i = 0; i <= reader->chain->count; i++)
        if (!add_layer(reader, i, err))
            return false;
    if (!snapshot_find_loss(reader, err) || !snapshot_undo_false_loops(reader, err) ||
        !snapshot_join_lines(reader, err))
        return false;
    model->element_size = ELEMENT;
    model->hides_units = snapshot_hides_units(reader);
    model->guesses_units = snapshot_guesses_units(reader) || snapshot_repeats(reader);
    model->has_tensors = model->has_backward = model->assumes_type = true;
    snapshot_mark_tables(reader);
    if (!snapshot_find_rows(reader, err) || !add_points(reader, err) || !add_frozen(reader, err) ||
        !snapshot_add_tables(reader, err) || !snapshot_split_packed(reader, err) ||
        !snapshot_take_main_gradients(reader, err))
        return false;
    set_buffers(reader);
    shard_model_set_packed(model);
    return shard_model_drop_units(model, err);
}

static bool make_room(struct snapshot_reader *reader, size_t items, struct error *err)
{
    reader->change = calloc(items + 1, sizeof(*reader->change));
    reader->fixed = calloc(items + 1, sizeof(*reader->fixed));
    reader->latest = calloc(items + 1, sizeof(*reader->latest));
    reader->running = calloc(items + 1, sizeof(*reader->running));
    reader->made = calloc(items + 1, sizeof(*reader->made));
    return (reader->change && reader->fixed && reader->latest && reader->running && reader->made) ||
           error_out_of_memory(err);
}

bool shard_model_from_snapshot(struct shard_model *model, const struct timeline *timeline,
                               struct site_table *sites, const struct forward_chain *chain,
                               const struct symbols *symbols, struct error *err)
{
    struct snapshot_reader reader = {
        .model = model, .timeline = timeline, .sites = sites, .chain = chain, .symbols = symbols};
    size_t items = chain->end - chain->first;
    size_t bytes =
        items * (sizeof(*reader.change) + sizeof(*reader.fixed) + sizeof(*reader.latest) +
                 sizeof(*reader.running) + sizeof(*reader.made));
    if (!budget_take(model->budget, bytes, err))
        return false;
    bool ok = phases_build(&reader.phases, timeline, sites, err) &&
              categories_assign(timeline, sites, &reader.phases, &reader.categories, err) &&
              make_room(&reader, items, err) && read_all(&reader, err);
    categories_release(&reader.categories);
    phases_release(&reader.phases);
    free(reader.change);
    free(reader.fixed);
    free(reader.latest);
    free(reader.running);
    free(reader.made);
    budget_give(model->budget, bytes);
    return ok;
}
