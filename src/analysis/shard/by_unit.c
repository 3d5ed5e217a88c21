#include "analysis/shard/by_unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/walk.h"

#define MOST_STEPS ((size_t)1 << 28) /* points and tensors of all walks: seconds */

/* Finds a moment again in a walk from which a unit was removed. Without a unit, a walk has the same
 * moments, or lacks some of this unit; then the last one before takes their place. */
struct place {
    size_t point;
    enum shard_phase phase;
    uint32_t unit;
    size_t earlier; /* moments with the same members */
};

struct finder {
    struct place place;
    size_t seen;
    struct shard_memory found, last;
};

static bool is_at(const struct place *place, const struct shard_moment *moment)
{
    return place->point == moment->point && place->phase == moment->phase &&
           place->unit == moment->unit;
}

/* Phases at one point follow each other in the order of their enumeration. */
static bool is_before(const struct shard_moment *moment, const struct place *place)
{
    return moment->point < place->point ||
           (moment->point == place->point && moment->phase <= place->phase);
}

static void find(void *self, const struct shard_moment *moment)
{
    struct finder *finder = self;
    if (is_at(&finder->place, moment) && finder->seen++ == finder->place.earlier)
        finder->found = moment->memory;
    else if (is_before(moment, &finder->place) && finder->seen <= finder->place.earlier)
        finder->found = moment->memory;
    finder->last = moment->memory;
}

struct highest {
    struct shard_moment peak, last;
    struct place place; /* of the peak */
    struct place here;
};

static void take_highest(void *self, const struct shard_moment *moment)
{
    struct highest *highest = self;
    size_t earlier = is_at(&highest->here, moment) ? highest->here.earlier + 1 : 0;
    highest->here = (struct place){moment->point, moment->phase, moment->unit, earlier};
    if (shard_memory_sum(&moment->memory) > shard_memory_sum(&highest->peak.memory)) {
        highest->peak = *moment;
        highest->place = highest->here;
    }
    highest->last = *moment;
}

static struct shard_memory difference(const struct shard_memory *a, const struct shard_memory *b)
{
    return (struct shard_memory){
        .parameter_bytes = a->parameter_bytes - b->parameter_bytes,
        .gradient_bytes = a->gradient_bytes - b->gradient_bytes,
        .optimizer_state_bytes = a->optimizer_state_bytes - b->optimizer_state_bytes,
        .activation_bytes = a->activation_bytes - b->activation_bytes,
        .buffer_bytes = a->buffer_bytes - b->buffer_bytes,
    };
}

/* A model that has no tensors of one unit. */
struct reduced {
    struct shard_model model;
    struct shard_tensor *tensors;
    int64_t bucket_elements;
};

/* Returns the elements of the unit. */
static int64_t remove_unit(struct reduced *reduced, const struct walk *walk,
                           const struct shard_model *full, uint32_t unit)
{
    int64_t elements = 0;
    for (size_t i = 0; i < full->tensor_count; i++) {
        reduced->tensors[i] = full->tensors[i];
        if (walk_origin(walk, full->tensors[i].unit) != unit)
            continue;
        elements += full->tensors[i].elements;
        reduced->tensors[i].elements = reduced->tensors[i].rows = 0;
        if (walk->is_bucketed && walk->is_bucketed[i])
            reduced->bucket_elements -= walk_elements(walk, &full->tensors[i]);
    }
    return elements;
}

/* Owners and buckets of the other tensors stay those of the full model. */
static void add_row(struct shard_by_unit *table, struct walk *walk, struct reduced *reduced,
                    const struct highest *highest, uint32_t unit)
{
    const struct shard_model *full = walk->model;
    struct shard_unit_row *row = &table->rows[unit];
    struct finder finder = {.place = highest->place};
    int64_t bucket_elements = walk->bucket_elements;
    bool is_divided = shard_is_full(walk->strategy);
    reduced->bucket_elements = bucket_elements;
    row->elements = remove_unit(reduced, walk, full, unit);
    walk->model = &reduced->model;
    walk->bucket_elements = reduced->bucket_elements;
    walk->take = find;
    walk->self = &finder;
    walker_add_up(walk);
    walker_run(walk);
    walk->model = full;
    walk->bucket_elements = bucket_elements;
    walker_add_up(walk);
    row->unit = unit;
    row->in_step = difference(&highest->last.memory, &finder.last);
    row->in_step.activation_bytes = row->in_step.buffer_bytes = 0;
    row->at_peak = difference(&highest->peak.memory, &finder.found);
    row->at_peak.activation_bytes = 0;
    row->is_unsharded = !is_divided || row->at_peak.parameter_bytes > row->in_step.parameter_bytes;
}

/* Activations that the layers keep from their forward pass to their backward pass. */
static void add_activations(struct shard_by_unit *table, const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    size_t end = table->peak.point < model->point_count
                     ? model->points[table->peak.point].layer + (size_t)1
                     : 0;
    for (size_t i = 0; i < end; i++) {
        const struct shard_layer *layer = &model->layers[i];
        table->rows[walk_origin(walk, layer->unit)].at_peak.activation_bytes += layer->saved;
    }
    for (size_t i = 0; i < table->count; i++) {
        struct shard_memory *memory = &table->rows[i].at_peak;
        memory->activation_bytes =
            (int64_t)((double)memory->activation_bytes * walk->options->batch);
    }
}

static void add_rest(struct shard_by_unit *table)
{
    table->none = table->peak.memory;
    for (size_t i = 0; i < table->count; i++)
        table->none = difference(&table->none, &table->rows[i].at_peak);
}

static void fill(struct shard_by_unit *table, struct walk *walk, struct reduced *reduced)
{
    struct highest highest = {.here = {.point = SIZE_MAX}};
    walk->take = take_highest;
    walk->self = &highest;
    walker_run(walk);
    table->peak = highest.peak;
    for (uint32_t unit = 0; unit < table->count; unit++)
        add_row(table, walk, reduced, &highest, unit);
    add_activations(table, walk);
    add_rest(table);
}

bool shard_by_unit_make(struct shard_by_unit *table, const struct shard_model *model,
                        const struct shard_options *options, enum shard_strategy strategy,
                        uint32_t rank, struct error *err)
{
    struct walker walker;
    struct reduced reduced;
    *table = (struct shard_by_unit){.count = model->unit_count};
    if (model->point_count + model->tensor_count > MOST_STEPS / model->unit_count)
        return error_set(err, STATUS_LIMIT, "too many units (%zu) for a table of them",
                         model->unit_count);
    if (!walker_init(&walker, model, options, strategy, err))
        return false;
    walker.walk.rank = rank;
    reduced.model = *walker.walk.model;
    table->rows = calloc(table->count, sizeof(*table->rows));
    reduced.tensors = calloc(model->tensor_count, sizeof(*reduced.tensors));
    reduced.model.tensors = reduced.tensors;
    bool ok = table->rows && reduced.tensors;
    if (ok)
        fill(table, &walker.walk, &reduced);
    else
        shard_by_unit_release(table);
    free(reduced.tensors);
    walker_release(&walker);
    return ok || error_out_of_memory(err);
}

void shard_by_unit_release(struct shard_by_unit *table)
{
    free(table->rows);
    *table = (struct shard_by_unit){0};
}
