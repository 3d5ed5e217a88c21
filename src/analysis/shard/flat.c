/* The walk of FairScale's FullyShardedDataParallel: the parameters of a unit are one flat tensor.
 */
#include "analysis/shard/walk.h"

struct flat_walk {
    const struct walk *walk;
    int64_t shards;       /* bytes of the parameters of this rank */
    int64_t made[2];      /* elements of gradients: of the root, and of units that have begun */
    int64_t gradients;    /* bytes of sharded gradients so far */
    int64_t in_bucket;    /* bytes in the bucket that is being filled */
    int64_t bucket_bytes; /* of the bucket, once there is one */
    int64_t kept;         /* bytes of units that stay gathered after forward */
};

static bool is_offloaded(const struct flat_walk *flat)
{
    return flat->walk->options->offload;
}

static int64_t full_bytes(const struct flat_walk *flat, uint32_t unit)
{
    const struct walk *walk = flat->walk;
    const struct unit_sums *sums = &walk->units[unit];
    bool casts = walk->compute_size != walk->size;
    return (sums->shard * walk->parts + (casts ? sums->shard : 0)) * walk->compute_size;
}

static bool is_kept(const struct flat_walk *flat, uint32_t unit)
{
    enum shard_reshard reshard = flat->walk->options->reshard;
    return unit == SHARD_ROOT || reshard == SHARD_KEEP ||
           (reshard == SHARD_RESHARD_LAST && unit + 1 == flat->walk->model->unit_count);
}

static void note(const struct flat_walk *flat, enum shard_phase phase, uint32_t unit,
                 int64_t gathered, int64_t gradients, int64_t buffers, int64_t residual)
{
    const struct walk *walk = flat->walk;
    struct shard_memory memory = {
        .parameter_bytes = flat->shards + gathered,
        .gradient_bytes = flat->gradients + gradients,
        .optimizer_state_bytes = is_offloaded(flat) ? 0 : walk->state_bytes,
        .buffer_bytes = flat->bucket_bytes + buffers,
    };
    walk_note(walk, phase, unit, memory, residual);
}

/* A small gradient goes into the bucket. Reduced gradients are views of the bucket's output, so the
 * whole output stays as long as one of them does. */
static int64_t add_to_bucket(struct flat_walk *flat, int64_t bytes)
{
    if (flat->bucket_bytes == 0 || flat->in_bucket + bytes > WALK_FLAT_BUCKET) {
        flat->in_bucket = 0;
        flat->bucket_bytes = WALK_FLAT_BUCKET;
        flat->gradients += WALK_FLAT_BUCKET / flat->walk->parts;
    }
    flat->in_bucket += bytes;
    return 0;
}

/* The end of a unit's backward: its gradients become one tensor, which is reduced and scattered. */
static void reduce(struct flat_walk *flat, uint32_t unit, int64_t elements, int64_t residual)
{
    const struct walk *walk = flat->walk;
    int64_t tensors = elements * walk->compute_size, reduced = elements * walk->reduce_size;
    int64_t shard = walk->units[unit].trained_shard * walk->gradient_size;
    if (elements == 0)
        return;
    /* fp32_reduce_scatter: a copy, while _post_backward_hook() has the original */
    int64_t copy = walk->reduce_size == walk->compute_size ? 0 : reduced;
    int64_t gathered = full_bytes(flat, unit);
    int64_t others = flat->made[1] * walk->compute_size;
    note(flat, SHARD_REDUCTION, unit, flat->kept + (is_kept(flat, unit) ? 0 : gathered),
         others + 2 * tensors, 0, residual);
    if (is_kept(flat, unit))
        flat->kept -= gathered;
    if (reduced > WALK_FLAT_BUCKET) {
        note(flat, SHARD_REDUCTION, unit, flat->kept, others + tensors + copy + shard, reduced,
             residual);
        flat->gradients += is_offloaded(flat) ? 0 : shard;
    } else {
        add_to_bucket(flat, reduced);
        note(flat, SHARD_REDUCTION, unit, flat->kept, others + tensors + copy, 0, residual);
    }
}

static void run_forward(struct flat_walk *flat, size_t at)
{
    const struct walk *walk = flat->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    int64_t gathered = unit == SHARD_ROOT ? 0 : full_bytes(flat, unit);
    note(flat, SHARD_FORWARD, unit, flat->kept + gathered, 0, 0, point->peak_bytes);
    if (unit != SHARD_ROOT && is_kept(flat, unit) && walk->units[unit].last_forward == at)
        flat->kept += gathered;
}

static void run_backward(struct flat_walk *flat, size_t at)
{
    const struct walk *walk = flat->walk;
    const struct shard_point *point = &walk->model->points[at];
    uint32_t unit = walk_unit(walk, point);
    struct unit_sums *sums = &walk->units[unit];
    int64_t gathered = is_kept(flat, unit) ? 0 : full_bytes(flat, unit);
    flat->kept += sums->stays ? 0 : gathered;
    sums->stays = true;
    for (uint32_t i = point->first_tensor; i < point->end_tensor; i++) {
        const struct shard_tensor *tensor = &walk->model->tensors[i];
        int64_t elements = tensor->frozen ? 0 : walk_elements(walk, tensor);
        flat->made[tensor->unit != SHARD_ROOT] += elements;
        walk->units[tensor->unit].made += elements;
    }
    int64_t made = (flat->made[0] + flat->made[1]) * walk->compute_size;
    note(flat, walk_phase(point), unit, flat->kept, made, 0, point->peak_bytes);
    if (unit == SHARD_ROOT || sums->last_backward != at)
        return;
    flat->kept -= gathered;
    flat->made[1] -= sums->made;
    reduce(flat, unit, sums->made, point->end_bytes);
}

void walk_flat(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    struct flat_walk flat = {.walk = walk};
    const struct flat_shards shards = walk_flat_shards(walk);
    flat.shards = shards.parameters;
    if (walk_begins_with_gradients(walk))
        flat.gradients = shards.gradients;
    flat.kept = full_bytes(&flat, SHARD_ROOT);
    walk_begin_units(walk);
    for (size_t i = 0; i < model->point_count; i++) {
        *walk->point = i;
        if (model->points[i].is_backward)
            run_backward(&flat, i);
        else
            run_forward(&flat, i);
    }
    *walk->point = model->point_count;
    reduce(&flat, SHARD_ROOT, flat.made[0], model->points[model->point_count - 1].end_bytes);
    flat.kept = flat.bucket_bytes = 0;
    if (flat.gradients > shards.gradients && flat.in_bucket == 0)
        flat.gradients = shards.gradients;
    note(&flat, SHARD_STEP, SHARD_ROOT, 0, 0, walk->options->offload ? 0 : walk->temporary_bytes,
         model->end_bytes);
}
