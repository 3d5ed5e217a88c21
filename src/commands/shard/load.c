#include "commands/shard/load.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/from_layers.h"
#include "analysis/shard/from_snapshot.h"
#include "solve/advice/advice.h"

#define MOST_NAMES   64 /* that an error may show */
#define SIXTEEN_BITS 2  /* bytes */

/* Finds units by the rule of --granularity. */
struct finder {
    const struct cuts *cuts;
    struct tree tree;
};

/* The module named by the first `size` letters is numbered, or in a numbered one that has no
 * forward. */
static bool is_listed(const struct tree *tree, struct text name, size_t size)
{
    for (; size > 0 && !tree_is_numbered(tree, name, size); size--)
        while (size > 1 && name.bytes[size - 1] != '.')
            size--;
    return size > 0;
}

/* Of blocks only those of lists: embeddings, the last norm and the head belong to the root. Of a
 * module that is never called, such as a ModuleList at a depth, those within it. */
static size_t unit_of(void *self, struct text name)
{
    const struct finder *finder = self;
    size_t size = cuts_module(finder->cuts, &finder->tree, name);
    while (size > 0 && size < name.size && !tree_is_called(&finder->tree, name, size))
        for (size++; size < name.size && name.bytes[size] != '.'; size++)
            ;
    bool is_unit = finder->cuts->kind != CUT_BLOCKS || is_listed(&finder->tree, name, size);
    return is_unit ? size : 0;
}

/* A pattern that matches no module is an error, which shows some that there are. */
static bool explain_unmatched(const struct layer_trace *trace, const struct cuts *cuts,
                              struct error *err)
{
    struct text names[MOST_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < trace->count && count < MOST_NAMES; i++)
        if (trace->rows[i].is_forward)
            names[count++] = layer_name(trace, &trace->rows[i]);
    return cuts_unmatched("granularity", cuts->pattern, "module", names, count, err);
}

static bool read_layers(struct shard_subject *subject, const struct shard_command *command,
                        struct error *err)
{
    const struct layer_trace *trace = subject->trace;
    struct finder finder = {.cuts = &command->cuts};
    tree_init(&finder.tree, trace->budget);
    bool ok = true;
    for (size_t i = 0; ok && i < trace->count; i++)
        ok = !trace->rows[i].is_forward ||
             tree_add_stems(&finder.tree, layer_name(trace, &trace->rows[i]),
                            layer_is_leaf(&trace->rows[i]), err);
    for (size_t i = 0; ok && i < trace->count; i++)
        ok =
            !trace->rows[i].is_forward || tree_add(&finder.tree, layer_name(trace, &trace->rows[i]),
                                                   layer_is_leaf(&trace->rows[i]), err);
    for (size_t i = 0; ok && i < trace->count; i++) /* no other module can be gathered */
        ok = !trace->rows[i].is_forward || !layer_has(&trace->rows[i], LAYER_PLAIN) ||
             tree_add_call(&finder.tree, layer_name(trace, &trace->rows[i]), err);
    ok = ok && shard_model_from_layers(&subject->model, trace, unit_of, &finder, err);
    tree_release(&finder.tree);
    if (ok && command->cuts.kind == CUT_PATTERN && subject->model.unit_count == 1)
        return explain_unmatched(trace, &command->cuts, err);
    return ok;
}

/* The checkpoints of a placement, in ascending order. */
struct checkpoints {
    struct shard_subject *subject;
    const struct problem *problem;
    struct shard_segment *segments;
    size_t count;
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
static void add_segment(struct checkpoints *to, struct wrapped segment)
{
    for (size_t i = segment.first; i < segment.end; i++) {
        const struct piece *piece = &to->problem->pieces[i];
        if (!is_unit(to, piece))
            continue;
        size_t first = layer_of(to, piece->first_row), last = layer_of(to, piece->end_row - 1);
        to->subject->checkpoints[to->count] = to->problem->modules[piece->first_module];
        to->segments[to->count++] = (struct shard_segment){first, last + 1};
    }
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
            add_segment(to, placement.segments[k]);
    subject->checkpoint_count = to->count;
    int64_t time = problem_step_time(to->problem);
    subject->extra_time_share = time > 0 ? (double)front.points[0].extra_time / (double)time : 0;
    placement_release(&placement, budget);
    front_release(&front, budget);
    return ok;
}

/* All units of a snapshot: without the names of modules, the code can wrap no others. */
static bool place_all(struct checkpoints *to, struct error *err)
{
    struct shard_subject *subject = to->subject;
    const struct shard_model *model = &subject->model;
    const struct problem *problem = to->problem;
    int64_t time = problem_step_time(problem), again = 0;
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
        if (!model->layers[i].is_added)
            again += problem->chain.forward[element];
    }
    subject->extra_time_share = time > 0 ? (double)again / (double)time : 0;
    return true;
}

static bool copy_model(struct shard_model *copy, const struct shard_model *model, struct error *err)
{
    struct budget *budget = model->budget;
    shard_model_init(copy, budget);
    copy->element_size = model->element_size;
    copy->buffer_bytes = model->buffer_bytes;
    copy->average_bytes = model->average_bytes;
    copy->unknown_bytes = model->unknown_bytes;
    copy->batch_bytes = model->batch_bytes;
    copy->library_bytes = model->library_bytes;
    copy->end_bytes = model->end_bytes;
    copy->has_tensors = model->has_tensors;
    copy->has_unused = model->has_unused;
    copy->has_batch_norm = model->has_batch_norm;
    copy->has_backward = model->has_backward;
    copy->hides_units = model->hides_units;
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

static bool add_checkpoints(struct shard_subject *subject, const struct problem *problem,
                            struct error *err)
{
    struct checkpoints to = {.subject = subject,
                             .problem = problem,
                             .row = subject->trace ? subject->trace->rows : NULL};
    bool ok = (subject->trace ? place : place_all)(&to, err) &&
              copy_model(&subject->checkpointed, &subject->model, err) &&
              shard_model_checkpoint(&subject->checkpointed, to.segments, to.count, err);
    free(to.segments);
    return ok;
}

static bool checkpoint_layers(struct shard_subject *subject, const struct shard_command *command,
                              struct error *err)
{
    struct budget *budget = subject->trace->budget;
    struct problem problem;
    if (!problem_create(&problem, subject->trace, &command->cuts, FRONT_MOST_LAYERS, budget, err))
        return false;
    bool ok = add_checkpoints(subject, &problem, err);
    problem_release(&problem, budget);
    return ok;
}

static bool load_layers(struct shard_subject *subject, const struct shard_command *command,
                        struct input *input, struct error *err)
{
    if (command->recorded_size > 0) {
        input_discard(input);
        return error_set(err, STATUS_USAGE,
                         "--recorded-dtype is for snapshots; a layer trace has the types");
    }
    subject->trace = layer_trace_load_input(input, err);
    if (!subject->trace)
        return false;
    subject->source = "layer trace";
    shard_model_init(&subject->model, subject->trace->budget);
    shard_model_init(&subject->checkpointed, subject->trace->budget);
    if (read_layers(subject, command, err) && shard_model_check(&subject->model, err) &&
        (!command->is_checkpointed || checkpoint_layers(subject, command, err)))
        return true;
    shard_unload(subject);
    return false;
}

/* A snapshot has no types, but where a program has copies in float32, its parameters have 16 bits.
 * Those of other types have no such copies. */
static void set_type(struct shard_model *model, int64_t size)
{
    if (model->master_bytes > 0 && size == 0)
        size = SIXTEEN_BITS;
    if (size != SIXTEEN_BITS) {
        model->buffer_bytes += model->master_bytes;
        model->master_bytes = 0;
    }
    if (size > 0)
        shard_model_set_type(model, size);
}

/* Where an option says that the optimizer has copies, and none are known, they may be these. */
static void drop_averages(struct shard_model *model)
{
    model->buffer_bytes -= model->average_bytes;
    model->average_bytes = 0;
}

static bool load_snapshot(struct shard_subject *subject, const struct shard_command *command,
                          struct input *input, struct error *err)
{
    struct suggest_snapshot *snapshot = &subject->snapshot;
    struct cuts cuts = command->cuts;
    if (cuts.kind == CUT_BLOCKS)
        cuts.kind = CUT_LOOPS;
    if (!suggest_snapshot_open(snapshot, input, &command->capture, &cuts, FRONT_MOST_LAYERS, false,
                               err))
        return err->status == STATUS_CHECK_FAILED
                   ? error_set(err, STATUS_BAD_INPUT,
                               "no backward pass follows a forward pass; record a whole training "
                               "step")
                   : false;
    const struct capture *capture = &snapshot->capture;
    subject->has_snapshot = true;
    subject->source = "snapshot";
    shard_model_init(&subject->model, capture->snapshot->budget);
    shard_model_init(&subject->checkpointed, capture->snapshot->budget);
    bool ok = shard_model_from_snapshot(&subject->model, capture_highest(capture), capture->sites,
                                        &snapshot->chain, capture->snapshot->symbols, err);
    if (ok)
        set_type(&subject->model, command->recorded_size);
    if (ok && command->options.has_master && subject->model.master_bytes == 0)
        drop_averages(&subject->model);
    if (ok && shard_model_check(&subject->model, err) &&
        (!command->is_checkpointed || add_checkpoints(subject, &snapshot->problem.problem, err)))
        return true;
    shard_unload(subject);
    return false;
}

bool shard_load(struct shard_subject *subject, const struct shard_command *command,
                struct inputs *inputs, struct error *err)
{
    struct input input;
    int fd;
    *subject = (struct shard_subject){0};
    if (!inputs_take(inputs, 0, &fd, err) ||
        !input_from_fd(&input, fd, command->capture.max_memory, err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    if (kind_has_stacks(kind))
        return load_snapshot(subject, command, &input, err);
    if (kind == KIND_LAYER_TRACE)
        return load_layers(subject, command, &input, err);
    return suggest_refuse_kind(&input, kind, err);
}

void shard_unload(struct shard_subject *subject)
{
    if (subject->model.budget) {
        shard_model_release(&subject->model);
        shard_model_release(&subject->checkpointed);
    }
    if (subject->has_snapshot)
        suggest_snapshot_close(&subject->snapshot);
    free(subject->checkpoints);
    layer_trace_destroy(subject->trace);
    *subject = (struct shard_subject){0};
}
