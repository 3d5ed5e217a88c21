#include "commands/shard/load.h"

#include <stdlib.h>

#include "analysis/shard/from_layers.h"
#include "analysis/shard/from_snapshot.h"
#include "commands/shard/checkpoints.h"
#include "solve/dp/front.h"

#define MOST_NAMES   64 /* that an error may show */
#define SIXTEEN_BITS 2  /* bytes */

/* Finds units by the rule of --granularity. */
struct finder {
    const struct cuts *cuts;
    struct tree tree;
};

/* Of blocks only those of lists: embeddings, the last norm and the head belong to the root. Of a
 * module that is never called, such as a ModuleList at a depth, those within it. */
static size_t unit_of(void *self, struct text name)
{
    const struct finder *finder = self;
    size_t size = cuts_module(finder->cuts, &finder->tree, name);
    if (size > 0)
        size = tree_called_from(&finder->tree, name, size);
    bool is_unit =
        finder->cuts->kind != CUT_BLOCKS || tree_is_in_numbered(&finder->tree, name, size);
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

static bool checkpoint_layers(struct shard_subject *subject, const struct shard_command *command,
                              struct error *err)
{
    struct budget *budget = subject->trace->budget;
    struct problem problem;
    if (!problem_create(&problem, subject->trace, &command->cuts, FRONT_MOST_LAYERS, budget, err))
        return false;
    bool ok = shard_add_checkpoints(subject, &problem, err);
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
        model->buffer_bytes += model->master_bytes + model->main_gradient_bytes;
        model->master_bytes = model->main_gradient_bytes = 0;
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

/* Only one device is read: the model may have parts on the others. */
static void set_device(struct shard_subject *subject, const struct capture *capture)
{
    const struct timeline *highest = capture_highest(capture);
    subject->device = highest->device;
    for (size_t i = 0; i < capture->device_count; i++)
        subject->other_devices +=
            capture->timelines[i] != highest && capture->timelines[i]->active.peak_bytes > 0;
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
    if (ok) {
        set_device(subject, capture);
        set_type(&subject->model, command->recorded_size);
    }
    if (ok && command->options.has_master && subject->model.master_bytes == 0)
        drop_averages(&subject->model);
    /* with checkpoints, units that are guesses may be far off */
    bool adds = command->is_checkpointed && !subject->model.guesses_units;
    if (ok && shard_model_check(&subject->model, err) &&
        (!adds || shard_add_checkpoints(subject, &snapshot->problem.problem, err)))
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
