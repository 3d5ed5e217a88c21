#include "commands/shard/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/from_layers.h"
#include "solve/advice/advice.h"
#include "solve/problem/flops.h"

/* The checkpoints of a placement, in ascending order. */
struct checkpoints {
    struct shard_subject *subject;
    const struct problem *problem;
    struct shard_segment *segments;
    size_t count;
    struct placement pieces;     /* the same as pieces of the problem */
    const struct layer_row *row; /* of the trace, and its layer: where layer_of() left off */
    size_t layer;
};

/* The layer of a row of the problem, which leaves rows of the trace out. Rows ascend from call to
 * call. */
static size_t layer_of(struct checkpoints *to, size_t row)
{
    for (; to->row < to->problem->rows[row]; to->row++)
        to->layer += to->row->is_forward;
    return to->layer;
}

/* A module that runs several times forms a piece for each call. */
static struct text module_of(const struct problem *problem, const struct piece *piece)
{
    return piece->called.size > 0 ? piece->called : problem->modules[piece->first_module];
}

/* The unit that is the one module of a piece, or SHARD_ROOT. Of a module that runs several times,
 * each call must be a piece. */
static size_t unit_of(const struct checkpoints *to, const struct piece *piece)
{
    const struct shard_model *model = &to->subject->model;
    struct text module = module_of(to->problem, piece);
    bool is_whole = piece->called.size == 0 || (!piece->interrupted && to->problem->merged == 0);
    if (piece->end_module != piece->first_module + 1 || !is_whole)
        return SHARD_ROOT;
    for (size_t i = 1; i < model->unit_count; i++)
        if (text_same(model->units[i].name, module))
            return i;
    return SHARD_ROOT;
}

/* Chooses the units in a segment, as the code applies them. What is outside of units runs once: a
 * module such as a ReLU that changes the output of the one before cannot run again alone. */
static void choose_units(const struct checkpoints *to, struct wrapped segment, bool *chosen)
{
    for (size_t i = segment.first; i < segment.end; i++)
        chosen[unit_of(to, &to->problem->pieces[i])] = true;
}

/* Adds a checkpoint for each call of the chosen units: the code replaces the forward method of a
 * module, which all of its calls run. */
static bool add_segments(struct checkpoints *to, bool *chosen, struct error *err)
{
    for (size_t i = 0; i < to->problem->chain.layers; i++) {
        const struct piece *piece = &to->problem->pieces[i];
        size_t unit = unit_of(to, piece);
        if (unit == SHARD_ROOT || !chosen[unit])
            continue;
        size_t first = layer_of(to, piece->first_row), last = layer_of(to, piece->end_row - 1);
        to->segments[to->count++] = (struct shard_segment){.first = first, .end = last + 1};
        if (!placement_add(&to->pieces, i, i + 1, to->subject->model.budget, err))
            return false;
    }
    for (size_t i = 1; i < to->subject->model.unit_count; i++)
        if (chosen[i])
            to->subject->checkpoints[to->subject->checkpoint_count++] =
                to->subject->model.units[i].name;
    return true;
}

/* The units in the placement with the least memory. */
static bool place(struct checkpoints *to, struct error *err)
{
    struct shard_subject *subject = to->subject;
    struct budget *budget = subject->model.budget;
    struct front front;
    struct placement placement = {0};
    size_t most = to->problem->chain.layers + 1, units = subject->model.unit_count;
    bool *chosen = NULL;
    if (!front_create(&front, &to->problem->chain, budget, err))
        return false;
    bool ok = front_place(&front, front.points, &placement, budget, err);
    if (ok) {
        chosen = calloc(units, sizeof(*chosen));
        to->segments = calloc(most, sizeof(*to->segments));
        subject->checkpoints = calloc(units, sizeof(*subject->checkpoints));
        ok = (chosen && to->segments && subject->checkpoints) || error_out_of_memory(err);
    }
    for (size_t k = 0; ok && k < placement.count; k++)
        if (placement.segments[k].depth == 0)
            choose_units(to, placement.segments[k], chosen);
    ok = ok && add_segments(to, chosen, err);
    free(chosen);
    placement_release(&placement, budget);
    front_release(&front, budget);
    return ok;
}

/* All units, of a snapshot or given by hand: without the names of modules, the code can wrap no
 * others. */
static bool place_all(struct checkpoints *to, struct error *err)
{
    struct shard_subject *subject = to->subject;
    const struct shard_model *model = &subject->model;
    size_t elements = 0;
    to->segments = calloc(model->layer_count, sizeof(*to->segments));
    if (!to->segments)
        return error_out_of_memory(err);
    for (size_t i = 0; i < model->layer_count; i++) {
        size_t element = elements;
        elements += !model->layers[i].is_added;
        if (model->layers[i].unit == SHARD_ROOT)
            continue;
        bool goes_on = i > 0 && model->layers[i - 1].unit == model->layers[i].unit;
        if (!goes_on)
            to->segments[to->count++].first = i;
        to->segments[to->count - 1].end = i + 1;
        if (!model->layers[i].is_added &&
            !placement_add(&to->pieces, element, element + 1, model->budget, err))
            return false;
    }
    return true;
}

/* What the checkpoints run again. A checkpoint stops at the last tensor that its module saves. */
static bool add_extra(const struct checkpoints *to, struct error *err)
{
    struct shard_subject *subject = to->subject;
    struct shard_extra *extra = &subject->extra;
    const struct problem *problem = to->problem;
    if (!problem) { /* all layers have checkpoints */
        *extra = (struct shard_extra){.share = 1, .flops_share = -1};
        return true;
    }
    const struct chain *chain = &problem->chain;
    int64_t again = 0;
    for (size_t k = 0; k < to->pieces.count; k++) {
        size_t i = to->pieces.segments[k].first;
        again += chain->forward[i] > chain->tail[i] ? chain->forward[i] - chain->tail[i] : 0;
    }
    *extra = (struct shard_extra){
        .share = problem_cost_share(problem, again), .is_time = problem->timed, .flops_share = -1};
    return !subject->trace || problem_extra_flops(problem, subject->trace, &to->pieces,
                                                  &extra->flops_share, subject->model.budget, err);
}

static bool copy_model(struct shard_model *copy, const struct shard_model *model, struct error *err)
{
    struct budget *budget = model->budget;
    *copy = *model;
    copy->tensors = NULL;
    copy->layers = NULL;
    copy->points = NULL;
    copy->units = NULL;
    copy->tensor_count = copy->layer_count = copy->point_count = copy->unit_count = 0;
    copy->tensor_capacity = copy->layer_capacity = copy->point_capacity = copy->unit_capacity = 0;
    if (!vec_reserve(copy->tensors, copy->tensor_capacity, model->tensor_count, budget, err) ||
        !vec_reserve(copy->layers, copy->layer_capacity, model->layer_count, budget, err) ||
        !vec_reserve(copy->points, copy->point_capacity, model->point_count, budget, err) ||
        !vec_reserve(copy->units, copy->unit_capacity, model->unit_count, budget, err))
        return false;
    memcpy(copy->tensors, model->tensors, model->tensor_count * sizeof(*copy->tensors));
    memcpy(copy->layers, model->layers, model->layer_count * sizeof(*copy->layers));
    memcpy(copy->points, model->points, model->point_count * sizeof(*copy->points));
    memcpy(copy->units, model->units, model->unit_count * sizeof(*copy->units));
    copy->tensor_count = model->tensor_count;
    copy->layer_count = model->layer_count;
    copy->point_count = model->point_count;
    copy->unit_count = model->unit_count;
    return true;
}

bool shard_add_checkpoints(struct shard_subject *subject, const struct problem *problem,
                           struct error *err)
{
    struct checkpoints to = {.subject = subject,
                             .problem = problem,
                             .row = subject->trace ? subject->trace->rows : NULL};
    bool ok = (subject->trace ? place : place_all)(&to, err) && add_extra(&to, err) &&
              (!subject->trace || shard_layer_kept(subject->trace, to.segments, to.count, err)) &&
              copy_model(&subject->checkpointed, &subject->model, err) &&
              shard_model_checkpoint(&subject->checkpointed, to.segments, to.count, err);
    free(to.segments);
    placement_release(&to.pieces, subject->model.budget);
    return ok;
}
