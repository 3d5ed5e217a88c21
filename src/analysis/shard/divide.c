#include "analysis/shard/divide.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/kinds.h"
#include "analysis/shard/stops.h"

#define NO_KIND SHARD_KINDS

/* A module that leaves its unit. */
struct leaving {
    struct text name; /* empty: unknown */
    size_t layer;     /* then: the one that it is */
    uint32_t unit;    /* that it leaves */
    uint32_t before;  /* the unit that it precedes: the same, or the one that runs next */
    uint32_t made;    /* its own */
};

/* One round. A module that leaves takes along what it contains, which may be of another kind; the
 * next round divides that. */
struct divider {
    const struct shard_model *model;
    const struct shard_options *options;
    enum shard_strategy strategy;
    struct shard_kinds *kinds; /* by unit: of what cannot leave it, or of all of it */
    struct leaving *leaving;   /* sorted by names */
    size_t leaving_count;
    uint32_t *units; /* by unit: its new number */
};

/* The kind that stays in a unit. */
static size_t most_of(const struct shard_kinds *kinds)
{
    size_t most = NO_KIND;
    for (size_t i = 0; i < SHARD_KINDS; i++)
        if (kinds->elements[i] > 0 &&
            (most == NO_KIND || kinds->elements[i] > kinds->elements[most]))
            most = i;
    return most;
}

/* A unit keeps the kind of its own module's parameters, if it has any. */
static bool find_staying(struct divider *divider, struct error *err)
{
    const struct shard_model *model = divider->model;
    struct shard_kinds *own = calloc(model->unit_count, sizeof(*own));
    for (size_t i = 0; own && i < model->layer_count; i++) {
        const struct shard_layer *layer = &model->layers[i];
        for (uint32_t k = layer->first_tensor; layer->is_unit && k < layer->end_tensor; k++) {
            const struct shard_tensor *tensor = &model->tensors[k];
            if (shard_has_kind(divider->strategy, tensor))
                own[layer->unit].elements[shard_kind_of(model, divider->options, tensor)] +=
                    tensor->elements;
        }
    }
    for (size_t i = 0; own && i < model->unit_count; i++)
        if (most_of(&own[i]) != NO_KIND)
            divider->kinds[i] = own[i];
    free(own);
    return own || error_out_of_memory(err);
}

/* A layer without a name may be of several modules, so it leaves only as a whole. */
static bool leaves(const struct divider *divider, const struct shard_layer *layer)
{
    size_t most = most_of(&divider->kinds[layer->unit]), others = 0, same = 0;
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++) {
        const struct shard_tensor *tensor = &divider->model->tensors[i];
        if (!shard_has_kind(divider->strategy, tensor))
            continue;
        bool is_same = shard_kind_of(divider->model, divider->options, tensor) == most;
        *(is_same ? &same : &others) += 1;
    }
    return !layer->is_unit && others > 0 && (layer->name.size > 0 || same == 0);
}

/* "block.mlp" of "block.mlp.up"; empty if there is none. */
static struct text name_of_parent(struct text name)
{
    while (name.size > 0 && name.bytes[--name.size] != '.')
        continue;
    return name;
}

static int by_name(const void *a, const void *b)
{
    const struct leaving *x = a, *y = b;
    int order = text_compare(x->name, y->name);
    return order != 0 ? order : (x->layer > y->layer) - (x->layer < y->layer);
}

static void find_leaving(struct divider *divider)
{
    uint32_t seen = SHARD_ROOT;
    for (size_t i = 0; i < divider->model->layer_count; i++) {
        const struct shard_layer *layer = &divider->model->layers[i];
        if (layer->unit > seen)
            seen = layer->unit;
        if (!leaves(divider, layer))
            continue;
        uint32_t before = layer->unit == SHARD_ROOT ? seen + 1 : layer->unit;
        divider->leaving[divider->leaving_count++] =
            (struct leaving){.name = layer->name,
                             .layer = layer->name.size > 0 ? 0 : i,
                             .unit = layer->unit,
                             .before = before};
    }
}

/* Numbers the units: those that precede a unit, and then itself. `counts` has room for each unit
 * and the end. */
static void number(struct divider *divider, uint32_t *counts)
{
    uint32_t next = SHARD_ROOT + 1;
    for (size_t i = 0; i < divider->leaving_count; i++)
        counts[divider->leaving[i].before]++;
    for (size_t unit = SHARD_ROOT + 1; unit <= divider->model->unit_count; unit++) {
        uint32_t first = next;
        next += counts[unit];
        counts[unit] = first;
        if (unit < divider->model->unit_count)
            divider->units[unit] = next++;
    }
    for (size_t i = 0; i < divider->leaving_count; i++)
        divider->leaving[i].made = counts[divider->leaving[i].before]++;
}

static const struct leaving *find(const struct divider *divider, struct leaving wanted)
{
    const struct leaving *found = bsearch(&wanted, divider->leaving, divider->leaving_count,
                                          sizeof(*divider->leaving), by_name);
    return found && found->unit == wanted.unit ? found : NULL;
}

/* The innermost module that leaves the unit and contains `name`, or is it; or NULL. */
static const struct leaving *find_around(const struct divider *divider, struct text name,
                                         uint32_t unit)
{
    for (; name.size > 0; name = name_of_parent(name)) {
        const struct leaving *found = find(divider, (struct leaving){.name = name, .unit = unit});
        if (found)
            return found;
    }
    return NULL;
}

/* The same of the layer with this number. */
static const struct leaving *find_around_layer(const struct divider *divider, size_t i)
{
    const struct shard_layer *layer = &divider->model->layers[i];
    return layer->name.size > 0 ? find_around(divider, layer->name, layer->unit)
                                : find(divider, (struct leaving){.layer = i, .unit = layer->unit});
}

static bool allocate(struct shard_division *division, const struct shard_model *model, size_t more)
{
    struct shard_model *made = &division->model;
    *made = *model;
    made->unit_count = model->unit_count + more;
    made->tensors = malloc(model->tensor_count * sizeof(*made->tensors));
    made->layers = malloc(model->layer_count * sizeof(*made->layers));
    made->units = calloc(made->unit_count, sizeof(*made->units));
    division->outers = calloc(made->unit_count, sizeof(*division->outers));
    division->origins = calloc(made->unit_count, sizeof(*division->origins));
    return made->tensors && made->layers && made->units && division->outers && division->origins;
}

/* Those that leave lie in the unit that they left, or in another one that leaves it. */
static void add_units(const struct divider *divider, const struct shard_division *from,
                      struct shard_division *to)
{
    const struct shard_model *model = divider->model;
    for (size_t i = 0; i < model->unit_count; i++) {
        uint32_t unit = divider->units[i];
        to->model.units[unit] = model->units[i];
        to->origins[unit] = from->origins[i];
        to->outers[unit] = divider->units[from->outers[i]];
    }
    for (size_t i = 0; i < divider->leaving_count; i++) {
        const struct leaving *leaving = &divider->leaving[i];
        const struct leaving *around =
            find_around(divider, name_of_parent(leaving->name), leaving->unit);
        to->model.units[leaving->made].name = leaving->name;
        to->origins[leaving->made] = from->origins[leaving->unit];
        to->outers[leaving->made] = around ? around->made : divider->units[leaving->unit];
    }
}

static void move_layers(const struct divider *divider, struct shard_division *to)
{
    struct shard_model *made = &to->model;
    for (size_t i = 0; i < made->tensor_count; i++) {
        made->tensors[i] = divider->model->tensors[i];
        made->tensors[i].unit = divider->units[made->tensors[i].unit];
    }
    for (size_t i = 0; i < made->layer_count; i++) {
        struct shard_layer *layer = &made->layers[i];
        *layer = divider->model->layers[i];
        const struct leaving *around = find_around_layer(divider, i);
        layer->unit = around ? around->made : divider->units[layer->unit];
        layer->is_unit |= around && around->name.size == layer->name.size;
        for (uint32_t k = layer->first_tensor; k < layer->end_tensor && around; k++)
            made->tensors[k].unit = around->made;
    }
}

static bool divide(struct divider *divider, uint32_t *counts, struct shard_division *division,
                   struct error *err)
{
    struct shard_division next = {0};
    if (!find_staying(divider, err))
        return false;
    find_leaving(divider);
    if (divider->leaving_count == 0)
        return true;
    number(divider, counts);
    qsort(divider->leaving, divider->leaving_count, sizeof(*divider->leaving), by_name);
    if (!allocate(&next, divider->model, divider->leaving_count)) {
        shard_division_release(&next);
        return error_out_of_memory(err);
    }
    add_units(divider, division, &next);
    move_layers(divider, &next);
    shard_division_release(division);
    *division = next;
    return true;
}

/* Sets *more if modules left their units. */
static bool run_round(struct shard_division *division, const struct shard_options *options,
                      enum shard_strategy strategy, bool *more, struct error *err)
{
    const struct shard_model *model = &division->model;
    struct divider divider = {.model = model, .options = options, .strategy = strategy};
    divider.kinds = shard_unit_kinds(model, options, strategy);
    divider.leaving = malloc(model->layer_count * sizeof(*divider.leaving));
    divider.units = calloc(model->unit_count, sizeof(*divider.units));
    uint32_t *counts = calloc(model->unit_count + 1, sizeof(*counts));
    bool ok = divider.kinds && divider.leaving && divider.units && counts
                  ? divide(&divider, counts, division, err)
                  : error_out_of_memory(err);
    *more = divider.leaving_count > 0;
    free(divider.kinds);
    free(divider.leaving);
    free(divider.units);
    free(counts);
    return ok;
}

/* The model itself as a division. */
static bool copy(struct shard_division *division, const struct shard_model *model,
                 struct error *err)
{
    if (!allocate(division, model, 0))
        return error_out_of_memory(err);
    memcpy(division->model.tensors, model->tensors, model->tensor_count * sizeof(*model->tensors));
    memcpy(division->model.layers, model->layers, model->layer_count * sizeof(*model->layers));
    memcpy(division->model.units, model->units, model->unit_count * sizeof(*model->units));
    for (size_t i = 0; i < model->unit_count; i++)
        division->origins[i] = (uint32_t)i;
    return true;
}

bool shard_divide(struct shard_division *division, const struct shard_model *model,
                  const struct shard_options *options, enum shard_strategy strategy,
                  struct error *err)
{
    bool more;
    *division = (struct shard_division){0};
    if (!shard_divides(model, options, strategy, &more, err))
        return false;
    if (!more)
        return true;
    bool ok = copy(division, model, err);
    while (ok && more)
        ok = run_round(division, options, strategy, &more, err);
    if (!ok || division->model.unit_count == model->unit_count)
        shard_division_release(division);
    return ok;
}

void shard_division_release(struct shard_division *division)
{
    free(division->model.tensors);
    free(division->model.layers);
    free(division->model.units);
    free(division->outers);
    free(division->origins);
    *division = (struct shard_division){0};
}
