/* The walk of torch's fully_shard(): each tensor is divided by its first dimension, and padded.
 *
 * A unit is gathered into one buffer ("gathered"), and from there copied out to its parameters
 * ("whole"). The buffer stays until the next unit has been gathered. */
#include "analysis/shard/walk.h"

struct tensor_walk {
    const struct walk *walk;
    int64_t shards;    /* bytes of the parameters of this rank */
    uint32_t gathered; /* forward: the unit whose buffer exists */
    uint32_t running;  /* backward: the unit without others in it that runs, or ran last */
    uint32_t reducing; /* backward: the unit whose reduce-scatter input exists, or SHARD_ROOT */
    uint32_t begun;    /* backward: the unit that began last, and gathered others ahead */
    int64_t made[3];   /* elements of gradients: of the root, the unit that runs, those around it */
    int64_t waiting;   /* the same of units that are reduced when backward has ended */
    bool has_ended;    /* backward has */
    int64_t gradients; /* bytes of sharded gradients so far */
    int64_t kept;      /* bytes of units that stay gathered after forward, or run around others */
    int64_t end_bytes; /* of the point before */
};

static int64_t whole_bytes(const struct walk *walk, uint32_t unit)
{
    return walk->units[unit].shard * walk->parts * walk->compute_size;
}

/* The shard in the type in which it is gathered. */
static int64_t cast_bytes(const struct walk *walk, uint32_t unit)
{
    return walk->compute_size == walk->size ? 0 : walk->units[unit].shard * walk->compute_size;
}

static int64_t input_bytes(const struct walk *walk, uint32_t unit)
{
    return walk->units[unit].trained_shard * walk->parts * walk->reduce_size;
}

static bool is_kept(const struct walk *walk, uint32_t unit)
{
    enum shard_reshard reshard = walk->options->reshard;
    return reshard == SHARD_KEEP ||
           (reshard == SHARD_RESHARD_LAST && unit + 1 == walk->model->unit_count);
}

/* The root's parameters are whole from the start to the end of backward. */
static void note(const struct tensor_walk *tensors, enum shard_phase phase, uint32_t unit,
                 struct shard_memory memory, int64_t residual)
{
    memory.parameter_bytes += tensors->shards;
    memory.gradient_bytes += tensors->gradients;
    memory.optimizer_state_bytes = tensors->walk->options->offload ? 0 : tensors->walk->state_bytes;
    walk_note(tensors->walk, phase, unit, memory, residual);
}

/* The unit has a backward whose end is not seen: see end_unit(). */
static bool waits(const struct walk *walk, uint32_t unit)
{
    return walk->model->units[unit].lacks_input_gradient && walk->units[unit].trained > 0 &&
           walk->units[unit].last_backward != SIZE_MAX;
}

/* Buffers of the units behind `unit` that are gathered ahead in forward. */
static int64_t ahead_bytes(const struct walk *walk, uint32_t unit, int64_t count)
{
    int64_t bytes = 0;
    for (uint32_t next = unit + 1; count > 0 && next < walk->model->unit_count; next++, count--)
        bytes += whole_bytes(walk, next);
    return bytes;
}

static void gather(struct tensor_walk *tensors, uint32_t unit)
{
    const struct walk *walk = tensors->walk;
    int64_t ahead = walk->options->forward_prefetch;
    struct shard_memory both = {.parameter_bytes = whole_bytes(walk, SHARD_ROOT) + tensors->kept,
                                .buffer_bytes = whole_bytes(walk, tensors->gathered) +
                                                whole_bytes(walk, unit) + cast_bytes(walk, unit) +
                                                ahead_bytes(walk, unit, ahead - 1)};
    note(tensors, SHARD_FORWARD, unit, both, tensors->end_bytes);
    tensors->gathered = unit;
}

static void begin_forward(struct tensor_walk *tensors, uint32_t unit)
{
    const struct walk *walk = tensors->walk;
    for (uint32_t around; (around = walk_next_around(walk, unit)) != SHARD_ROOT;) {
        gather(tensors, around);
        walk->units[around].is_open = true;
        tensors->kept += whole_bytes(walk, around);
    }
    if (unit != SHARD_ROOT && unit != tensors->gathered && !walk->units[unit].has_inner)
        gather(tensors, unit);
}

static void end_forward(struct tensor_walk *tensors, size_t at, uint32_t unit)
{
    const struct walk *walk = tensors->walk;
    for (uint32_t ended; (ended = walk_close(walk, unit, at)) != SHARD_ROOT;)
        tensors->kept -= is_kept(walk, ended) ? 0 : whole_bytes(walk, ended);
}

static void run_forward(struct tensor_walk *tensors, size_t at)
{
    const struct walk *walk = tensors->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    int64_t root = whole_bytes(walk, SHARD_ROOT), ahead = walk->options->forward_prefetch;
    begin_forward(tensors, unit);
    const struct unit_sums *gathered = &walk->units[tensors->gathered];
    bool runs =
        tensors->gathered != SHARD_ROOT && !gathered->has_inner && at <= gathered->last_forward;
    int64_t whole = runs ? whole_bytes(walk, tensors->gathered) : 0;
    struct shard_memory memory = {.parameter_bytes = root + tensors->kept + whole};
    if (!walk->model->layers[point->layer].outside)
        memory.buffer_bytes = whole_bytes(walk, tensors->gathered);
    if (tensors->gathered != SHARD_ROOT)
        memory.buffer_bytes += ahead_bytes(walk, tensors->gathered, ahead);
    note(tensors, SHARD_FORWARD, unit, memory, point->peak_bytes);
    if (runs && at == gathered->last_forward && is_kept(walk, tensors->gathered))
        tensors->kept += whole;
    end_forward(tensors, at, unit);
    tensors->end_bytes = point->end_bytes;
}

/* Buffers of `left` units that are gathered ahead: those before `unit` in the forward pass. */
static int64_t prefetched_bytes(const struct walk *walk, uint32_t unit, int64_t left)
{
    int64_t bytes = 0;
    for (uint32_t next = unit; left > 0 && next-- > SHARD_ROOT + 1; left--)
        bytes += is_kept(walk, next) ? 0 : whole_bytes(walk, next);
    return bytes;
}

/* Gradients of a unit are copied to the input of a reduce-scatter. */
static void reduce(struct tensor_walk *tensors, uint32_t unit, int64_t elements, int64_t residual)
{
    const struct walk *walk = tensors->walk;
    int64_t root = tensors->has_ended ? 0 : whole_bytes(walk, SHARD_ROOT);
    int64_t ahead =
        tensors->has_ended ? 0 : prefetched_bytes(walk, tensors->begun, walk->options->prefetch);
    int64_t other = (tensors->made[0] + tensors->made[2] + tensors->waiting) * walk->compute_size;
    int64_t shard = walk->units[unit].trained_shard * walk->gradient_size;
    if (is_kept(walk, unit) && unit != SHARD_ROOT)
        tensors->kept -= whole_bytes(walk, unit);
    struct shard_memory memory = {.parameter_bytes = root + tensors->kept,
                                  .gradient_bytes = other + elements * walk->compute_size,
                                  .buffer_bytes = input_bytes(walk, unit) + ahead};
    note(tensors, SHARD_REDUCTION, unit, memory, residual);
    if (!walk->options->offload)
        tensors->gradients += shard;
    memory.gradient_bytes = other;
    note(tensors, SHARD_REDUCTION, unit, memory, residual);
    if (walk->options->accumulation > 1 && !walk->options->offload)
        tensors->gradients -= shard; /* added to those of the passes before */
    tensors->reducing = unit;
}

/* The end of a unit's backward is seen by a hook on the inputs that need a gradient. Without one
 * the unit stays whole until backward has ended: see _register_post_backward_hook() of
 * _fsdp_param_group.py. */
static void end_unit(struct tensor_walk *tensors, uint32_t unit, int64_t elements, int64_t residual)
{
    const struct walk *walk = tensors->walk;
    if (!walk->model->units[unit].lacks_input_gradient) {
        reduce(tensors, unit, elements, residual);
        return;
    }
    tensors->waiting += elements;
    tensors->kept += is_kept(walk, unit) ? 0 : whole_bytes(walk, unit);
}

/* The end of backward reduces the gradients of the root, and then those of the units that wait. */
static void end_backward(struct tensor_walk *tensors)
{
    const struct walk *walk = tensors->walk;
    const struct shard_model *model = walk->model;
    int64_t residual = model->points[model->point_count - 1].end_bytes, elements = tensors->made[0];
    tensors->made[0] = tensors->kept = 0;
    tensors->has_ended = true;
    for (uint32_t unit = 1; unit < model->unit_count; unit++)
        tensors->kept += waits(walk, unit) ? whole_bytes(walk, unit) : 0;
    reduce(tensors, SHARD_ROOT, elements, residual);
    for (uint32_t unit = 1; unit < model->unit_count; unit++) {
        if (!waits(walk, unit))
            continue;
        elements = walk->units[unit].trained;
        elements = elements < tensors->waiting ? elements : tensors->waiting;
        tensors->waiting -= elements;
        tensors->kept -= is_kept(walk, unit) ? 0 : whole_bytes(walk, unit);
        reduce(tensors, unit, elements, residual);
    }
}

/* A hook on the output of a unit gathers the units that come next: see _pre_backward() of
 * _fsdp_state.py. The hook of the root runs when the backward of the loss has ended. It gathers one
 * unit, because the code calls set_modules_to_backward_prefetch() on other units only. */
static int64_t gathered_ahead(const struct tensor_walk *tensors, const struct shard_point *point)
{
    const struct walk *walk = tensors->walk;
    if (tensors->begun != SHARD_ROOT)
        return prefetched_bytes(walk, tensors->begun, walk->options->prefetch);
    if (walk->model->layers[point->layer].outside)
        return 0;
    return prefetched_bytes(walk, (uint32_t)walk->model->unit_count, 1);
}

static void begin_backward(struct tensor_walk *tensors, uint32_t unit)
{
    const struct walk *walk = tensors->walk;
    for (uint32_t around; (around = walk_next_around(walk, unit)) != SHARD_ROOT;) {
        walk->units[around].is_open = true;
        tensors->kept += is_kept(walk, around) ? 0 : whole_bytes(walk, around);
        tensors->begun = around;
    }
    if (unit != SHARD_ROOT && !walk->units[unit].has_inner)
        tensors->running = tensors->begun = unit;
}

static void add_gradient(struct tensor_walk *tensors, const struct shard_tensor *tensor)
{
    const struct walk *walk = tensors->walk;
    struct unit_sums *sums = &walk->units[tensor->unit];
    int64_t elements = tensor->frozen ? 0 : walk_elements(walk, tensor);
    sums->made += elements;
    tensors->made[sums->has_inner ? 2 : tensor->unit != SHARD_ROOT] += elements;
}

/* Ends the unit that runs, and then those around it. */
static void end_units(struct tensor_walk *tensors, size_t at, uint32_t unit, int64_t residual)
{
    const struct walk *walk = tensors->walk;
    if (unit == tensors->running && unit != SHARD_ROOT && walk->units[unit].last_backward == at) {
        int64_t elements = tensors->made[1];
        tensors->made[1] = 0;
        end_unit(tensors, unit, elements, residual);
    }
    for (uint32_t ended; (ended = walk_close(walk, unit, at)) != SHARD_ROOT;) {
        int64_t elements = walk->units[ended].made;
        tensors->made[2] -= elements;
        tensors->kept -= is_kept(walk, ended) ? 0 : whole_bytes(walk, ended);
        end_unit(tensors, ended, elements, residual);
    }
}

static void run_backward(struct tensor_walk *tensors, size_t at)
{
    const struct walk *walk = tensors->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    begin_backward(tensors, unit);
    uint32_t running = tensors->running;
    bool runs = running != SHARD_ROOT && at <= walk->units[running].last_backward;
    for (uint32_t i = point->first_tensor; i < point->end_tensor; i++)
        add_gradient(tensors, &walk->model->tensors[i]);
    int64_t whole = runs && !is_kept(walk, running) ? whole_bytes(walk, running) : 0;
    struct shard_memory memory = {
        .parameter_bytes = whole_bytes(walk, SHARD_ROOT) + tensors->kept + whole,
        .gradient_bytes =
            (tensors->made[0] + tensors->made[1] + tensors->made[2] + tensors->waiting) *
            walk->compute_size,
        .buffer_bytes = gathered_ahead(tensors, point)};
    if (tensors->reducing != SHARD_ROOT)
        memory.buffer_bytes += input_bytes(walk, tensors->reducing);
    note(tensors, walk_phase(point), unit, memory, point->peak_bytes);
    end_units(tensors, at, unit, point->end_bytes);
}

void walk_per_tensor(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    const struct shard_options *options = walk->options;
    struct tensor_walk tensors = {.walk = walk};
    int64_t all = 0;
    for (size_t i = 0; i < model->unit_count; i++) {
        tensors.shards += options->offload ? 0 : walk->units[i].shard * walk->size;
        all += options->offload ? 0 : walk->units[i].trained_shard * walk->gradient_size;
    }
    if (walk_begins_with_gradients(walk))
        tensors.gradients = all;
    for (size_t i = 0; i < model->point_count; i++) {
        *walk->point = i;
        if (model->points[i].is_backward)
            run_backward(&tensors, i);
        else
            run_forward(&tensors, i);
    }
    *walk->point = model->point_count;
    end_backward(&tensors);
    tensors.gradients = all;
    note(&tensors, SHARD_STEP, SHARD_ROOT,
         (struct shard_memory){.buffer_bytes = options->offload ? 0 : walk->temporary_bytes},
         model->end_bytes);
}
