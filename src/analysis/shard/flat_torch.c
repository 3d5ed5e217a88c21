/* The walk of torch's FullyShardedDataParallel. The parameters of a unit are one flat tensor, which
 * is gathered as it is. If any of them is trained, the whole flat tensor gets a gradient. See
 * torch/distributed/fsdp/_runtime_utils.py.
 *
 * Autograd makes the gradients of the parameters, and puts them together as the gradient of the
 * flat tensor. When that exists, the gathered unit is freed, and then the gradient is reduced. */
#include "analysis/shard/walk.h"

struct torch_walk {
    const struct walk *walk;
    int64_t shards;    /* bytes of the parameters of this rank */
    int64_t made[3];   /* elements of gradients: of the root, of units that have begun, and of
                          those around them */
    int64_t gradients; /* bytes of reduced gradients so far */
    int64_t kept;      /* bytes of the root and of units that stay gathered after forward, or
                          run around others */
    uint32_t running;  /* the unit without others in it that runs, or ran last */
    uint32_t begun;    /* backward: the unit that began last, and gathered another ahead */
    bool is_done;      /* backward: `running` has ended */
    uint32_t waiting;  /* a unit that has ended and is still gathered, or SHARD_ROOT */
    int64_t waiting_elements; /* of its gradients */
    int64_t end_bytes;        /* of the point before */
};

static bool is_sharded(const struct walk *walk)
{
    return walk->parts > 1;
}

/* CPUOffload: the original parameters are views of the shard on the device as long as the unit is
 * gathered. */
static bool keeps_input(const struct walk *walk)
{
    return walk->options->offload && !walk->options->has_flat_parameters && is_sharded(walk);
}

/* Without sharding, only what another type takes. */
static int64_t full_bytes(const struct walk *walk, uint32_t unit)
{
    bool is_made = is_sharded(walk) || walk->compute_size != walk->size || walk->options->offload;
    int64_t shard = walk->units[unit].shard;
    return (is_made ? shard * walk->parts * walk->compute_size : 0) +
           (keeps_input(walk) ? shard * walk->size : 0);
}

/* The input of the all-gather, where it is a copy of the shard: on the device, or in another type.
 */
static int64_t input_bytes(const struct walk *walk, uint32_t unit)
{
    bool casts = walk->compute_size != walk->size;
    bool is_made = casts || (walk->options->offload && !keeps_input(walk));
    return is_made && is_sharded(walk) ? walk->units[unit].shard * walk->compute_size : 0;
}

static bool is_kept(const struct walk *walk, uint32_t unit)
{
    enum shard_reshard reshard = walk->options->reshard;
    return unit == SHARD_ROOT || reshard == SHARD_KEEP ||
           (reshard == SHARD_RESHARD_LAST && unit + 1 == walk->model->unit_count);
}

/* `gathered`: also the next unit, which is gathered into the tensor that it will run with. */
static void note(const struct torch_walk *flat, enum shard_phase phase, uint32_t unit,
                 int64_t gathered, int64_t gradients, int64_t buffers, int64_t residual)
{
    const struct walk *walk = flat->walk;
    int64_t waiting = flat->waiting == SHARD_ROOT || is_kept(walk, flat->waiting)
                          ? 0
                          : full_bytes(walk, flat->waiting);
    struct shard_memory memory = {
        .parameter_bytes = flat->shards + flat->kept + gathered + waiting,
        .gradient_bytes = flat->gradients + gradients + flat->waiting_elements * walk->compute_size,
        .optimizer_state_bytes = walk->options->offload ? 0 : walk->state_bytes,
        .buffer_bytes = buffers,
    };
    walk_note(walk, phase, unit, memory, residual);
}

/* The next unit, which is gathered while one runs. */
static int64_t ahead_in_forward(const struct torch_walk *flat)
{
    const struct walk *walk = flat->walk;
    uint32_t next = flat->running + 1;
    return walk->options->forward_prefetch > 0 && next < walk->model->unit_count
               ? full_bytes(walk, next)
               : 0;
}

static void begin_around(struct torch_walk *flat, uint32_t unit, bool is_backward)
{
    const struct walk *walk = flat->walk;
    for (uint32_t around; (around = walk_next_around(walk, unit)) != SHARD_ROOT;) {
        walk->units[around].is_open = true;
        flat->kept += is_backward && is_kept(walk, around) ? 0 : full_bytes(walk, around);
        flat->begun = around;
    }
}

static void end_forward(struct torch_walk *flat, size_t at, uint32_t unit)
{
    const struct walk *walk = flat->walk;
    for (uint32_t ended; (ended = walk_close(walk, unit, at)) != SHARD_ROOT;)
        flat->kept -= is_kept(walk, ended) ? 0 : full_bytes(walk, ended);
}

static void run_forward(struct torch_walk *flat, size_t at)
{
    const struct walk *walk = flat->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    begin_around(flat, unit, false);
    bool runs = unit != SHARD_ROOT && !walk->units[unit].has_inner;
    int64_t gathered = runs ? full_bytes(walk, unit) : 0;
    if (runs && unit != flat->running) {
        flat->running = unit;
        note(flat, SHARD_FORWARD, unit, gathered + ahead_in_forward(flat), 0,
             input_bytes(walk, unit), flat->end_bytes);
    }
    int64_t ahead = walk->model->layers[point->layer].outside ? 0 : ahead_in_forward(flat);
    note(flat, SHARD_FORWARD, unit, gathered + ahead, 0, 0, point->peak_bytes);
    if (runs && is_kept(walk, unit) && walk->units[unit].last_forward == at)
        flat->kept += gathered;
    end_forward(flat, at, unit);
    flat->end_bytes = point->end_bytes;
}

static int64_t gathered_before(const struct walk *walk, uint32_t unit)
{
    bool is_free =
        unit > SHARD_ROOT + 1 && !is_kept(walk, unit - 1) && !walk->units[unit - 1].stays;
    return is_free ? full_bytes(walk, unit - 1) : 0;
}

/* BACKWARD_PRE gathers when a unit begins, first behind the loss; BACKWARD_POST when it ends. */
static int64_t ahead_in_backward(const struct torch_walk *flat, const struct shard_point *point)
{
    const struct walk *walk = flat->walk;
    enum shard_backward_prefetch when = walk->options->backward_prefetch;
    bool never = when == SHARD_PREFETCH_POST && walk->options->forward_prefetch > 0;
    if (never || when == SHARD_PREFETCH_NONE || (when == SHARD_PREFETCH_POST && !flat->is_done) ||
        (flat->begun == SHARD_ROOT && walk->model->layers[point->layer].outside))
        return 0;
    return gathered_before(walk, flat->begun != SHARD_ROOT ? flat->begun
                                                           : (uint32_t)walk->model->unit_count);
}

/* The end of a unit's backward. */
static void reduce_unit(struct torch_walk *flat, uint32_t unit, int64_t elements, int64_t residual)
{
    const struct walk *walk = flat->walk;
    const struct unit_sums *sums = &walk->units[unit];
    const struct shard_options *options = walk->options;
    if (elements == 0)
        return;
    int64_t whole = full_bytes(walk, unit),
            before = flat->made[2] + flat->made[1] + (unit == SHARD_ROOT ? 0 : flat->made[0]);
    int64_t others = before * walk->compute_size;
    int64_t flat_elements = walk_splits(walk) ? sums->trained : sums->elements;
    int64_t gradient = flat_elements * walk->compute_size;
    enum shard_backward_prefetch when = options->backward_prefetch;
    bool is_next = when == SHARD_PREFETCH_POST && options->forward_prefetch == 0;
    int64_t next = unit == SHARD_ROOT ? 0 : gathered_before(walk, flat->begun);
    int64_t ahead = when == SHARD_PREFETCH_PRE ? next : 0;
    note(flat, SHARD_REDUCTION, unit, (is_kept(walk, unit) ? 0 : whole) + ahead,
         others + elements * walk->compute_size + gradient, 0, residual);
    flat->kept -= is_kept(walk, unit) ? whole : 0;
    bool casts = walk->reduce_size != walk->compute_size;
    bool pads = options->has_flat_parameters && sums->elements % walk->parts != 0;
    int64_t copies = (casts + pads) * flat_elements * walk->reduce_size;
    int64_t shard = is_sharded(walk) ? sums->trained_shard * walk->reduce_size : 0;
    int64_t held = sums->trained_shard * walk->gradient_size;
    if (walk->reduce_size != walk->gradient_size)
        copies += held;
    note(flat, SHARD_REDUCTION, unit, is_next ? next : ahead, others + gradient + shard, copies,
         residual);
    /* CPUOffload copies them to the host, but they stay here until backward has ended */
    bool adds = !options->offload && walk_begins_with_gradients(walk);
    flat->gradients += adds ? 0 : held;
}

/* With forward_prefetch, the views of a unit's flat tensor are made before the unit in front of it
 * runs. Autograd runs the youngest nodes first, so the gradient of the flat tensor is only made
 * when the backward of that unit has ended. */
static void end_unit(struct torch_walk *flat, uint32_t unit, int64_t elements, int64_t residual)
{
    uint32_t ended = unit;
    if (flat->walk->options->forward_prefetch > 0) {
        ended = flat->waiting;
        int64_t waiting = flat->waiting_elements;
        flat->waiting = unit;
        flat->waiting_elements = elements;
        elements = waiting;
    }
    if (ended != SHARD_ROOT)
        reduce_unit(flat, ended, elements, residual);
}

static void add_gradient(struct torch_walk *flat, const struct shard_tensor *tensor)
{
    const struct walk *walk = flat->walk;
    struct unit_sums *sums = &walk->units[tensor->unit];
    bool is_made = !tensor->frozen || (!walk_splits(walk) && sums->trained > 0);
    int64_t elements = is_made ? walk_elements(walk, tensor) : 0;
    sums->made += elements;
    flat->made[sums->has_inner ? 2 : tensor->unit != SHARD_ROOT] += elements;
}

/* Ends the unit that runs, and then those around it. */
static void end_units(struct torch_walk *flat, size_t at, uint32_t unit, int64_t residual)
{
    const struct walk *walk = flat->walk;
    if (unit != SHARD_ROOT && !walk->units[unit].has_inner &&
        walk->units[unit].last_backward == at) {
        struct unit_sums *sums = &walk->units[unit];
        flat->kept -= sums->stays ? full_bytes(walk, unit) : 0;
        sums->stays = false;
        flat->made[1] -= sums->made;
        end_unit(flat, unit, sums->made, residual);
        flat->is_done = true;
    }
    for (uint32_t ended; (ended = walk_close(walk, unit, at)) != SHARD_ROOT;) {
        int64_t elements = walk->units[ended].made;
        flat->made[2] -= elements;
        flat->kept -= is_kept(walk, ended) ? 0 : full_bytes(walk, ended);
        end_unit(flat, ended, elements, residual);
    }
}

static void run_backward(struct torch_walk *flat, size_t at)
{
    const struct walk *walk = flat->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    begin_around(flat, unit, true);
    if (unit != SHARD_ROOT && !walk->units[unit].has_inner && unit != flat->running) {
        flat->running = flat->begun = unit;
        flat->is_done = false;
        bool is_free = !is_kept(walk, unit) && !walk->units[unit].stays;
        flat->kept += is_free ? full_bytes(walk, unit) : 0;
        walk->units[unit].stays = !is_kept(walk, unit);
    }
    for (uint32_t i = point->first_tensor; i < point->end_tensor; i++)
        add_gradient(flat, &walk->model->tensors[i]);
    int64_t made = (flat->made[0] + flat->made[1] + flat->made[2]) * walk->compute_size;
    note(flat, walk_phase(point), unit, ahead_in_backward(flat, point), made, 0, point->peak_bytes);
    end_units(flat, at, unit, point->end_bytes);
}

void walk_flat_torch(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    struct torch_walk flat = {.walk = walk};
    const struct flat_shards shards = walk_flat_shards(walk);
    flat.shards = shards.parameters;
    if (walk_begins_with_gradients(walk))
        flat.gradients = shards.gradients;
    flat.kept = full_bytes(walk, SHARD_ROOT);
    walk_begin_units(walk);
    for (size_t i = 0; i < model->point_count; i++) {
        *walk->point = i;
        if (!model->points[i].is_backward) {
            run_forward(&flat, i);
            continue;
        }
        if (i > 0 && !model->points[i - 1].is_backward)
            flat.running = flat.begun = SHARD_ROOT;
        run_backward(&flat, i);
    }
    *walk->point = model->point_count;
    int64_t residual = model->points[model->point_count - 1].end_bytes;
    if (flat.waiting != SHARD_ROOT)
        end_unit(&flat, SHARD_ROOT, 0, residual);
    reduce_unit(&flat, SHARD_ROOT, flat.made[0], residual);
    flat.kept = 0;
    flat.gradients = shards.gradients;
    note(&flat, SHARD_STEP, SHARD_ROOT, 0, 0, walk->options->offload ? 0 : walk->temporary_bytes,
         model->end_bytes);
}
