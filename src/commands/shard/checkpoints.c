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

/* A piece that is a unit of the model, and one module. */
static bool is_unit(const struct checkpoints *to, const struct piece *piece)
{
    const struct shard_model *model = &to->subject->model;
    struct text module = to->problem->modules[piece->first_module];
    for (size_t i = 1; i < model->unit_count; i++) {
        struct text name = model->units[i].name;
        if (name.size == module.size && memcmp(name.bytes, module.bytes, name.size) == 0)
            return piece->end_module == piece->first_module + 1;
    }
    return false;
}

/* Adds a checkpoint for each unit in a segment, as the code applies them. What is outside of units
 * runs once: a module such as a ReLU that changes the output of the one before cannot run again
 * alone. */
static bool add_segment(struct checkpoints *to, struct wrapped segment, struct error *err)
{
    for (size_t i = segment.first; i < segment.end; i++) {
        const struct piece *piece = &to->problem->pieces[i];
        if (!is_unit(to, piece))
            continue;
        size_t first = layer_of(to, piece->first_row), last = layer_of(to, piece->end_row - 1);
        to->subject->checkpoints[to->count] = to->problem->modules[piece->first_module];
        to->segments[to->count++] = (struct shard_segment){.first = first, .end = last + 1};
        if (!placement_add(&to->pieces, i, i + 1, to->subject->model.budget, err))
            return false;
    }
    return true;
}

/* The units in the placement with the least memory. */
static bool place(struct checkpoints *to, struct error *err)
{
    struct shard_subject *subject = to->subject;
    struct budget *budget = subject->model.budget;
    struct front front;
    struct placement placement = {0};
    size_t most = to->problem->chain.layers + 1;
    if (!front_create(&front, &to->problem->chain, budget, err))
        return false;
    bool ok = front_place(&front, front.points, &placement, budget, err);
    if (ok) {
        to->segments = calloc(most, sizeof(*to->segments));
        subject->checkpoints = calloc(most, sizeof(*subject->checkpoints));
        ok = (to->segments && subject->checkpoints) || error_out_of_memory(err);
    }
    for (size_t k = 0; ok && k < placement.count; k++)
        if (placement.segments[k].depth == 0)
            ok = add_segment(to, placement.segments[k], err);
    subject->checkpoint_count = to->count;
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
