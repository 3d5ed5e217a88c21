/* The walk of strategies in which every rank has all parameters: DDP, ZeroRedundancyOptimizer, OSS
 * and ShardedDataParallel. */
#include "analysis/shard/walk.h"

/* Gradients that one rank has, in elements. */
struct gradients {
    int64_t all;     /* elements that will exist after backward */
    int64_t so_far;  /* made by earlier points, and still there */
    int64_t fresh;   /* made by this point */
    int64_t staying; /* the part of `fresh` that stays */
    int64_t leaving; /* made by the point before: SDP looks when it has reduced the next one */
    int64_t before;  /* made by earlier passes, and not reduced yet by this one */
    int64_t total;   /* all, whether they stay or not */
    int64_t made;    /* the part of `total` that earlier points of this pass have made */
};

static bool stays(const struct walk *walk, size_t tensor)
{
    switch (walk->strategy) {
    case SHARD_SDP:
        return walk->owners[tensor] == walk->rank || walk->is_bucketed[tensor];
    case SHARD_OSS:
        return true;
    default:
        return !walk->options->bucket_view || shard_is_plain(walk->strategy, walk->options->world);
    }
}

static void make_gradients(const struct walk *walk, uint32_t first, uint32_t end,
                           struct gradients *gradients)
{
    gradients->fresh = gradients->staying = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct shard_tensor *tensor = &walk->model->tensors[i];
        if (tensor->frozen)
            continue;
        int64_t elements = walk_elements(walk, tensor);
        gradients->fresh += elements;
        gradients->staying += stays(walk, i) ? elements : 0;
    }
}

/* FairScale frees the gradient of another rank's parameter in the hook of a gradient behind it,
 * which already exists then: in its own hook the reduction has only begun. */
static bool frees_late(const struct walk *walk)
{
    return walk->strategy == SHARD_SDP && !walk->options->reduces_at_once;
}

/* SDP exchanges gradients in the last of several passes only, and until then has all of them. */
static bool has_all_before(const struct walk *walk)
{
    return walk->strategy == SHARD_SDP && walk->options->accumulation > 1;
}

/* A pass before the last one exchanges nothing. The first begins without gradients, except for
 * those that zero_grad() keeps. */
static int64_t in_earlier_pass(const struct walk *walk, const struct gradients *gradients)
{
    const struct shard_options *options = walk->options;
    int64_t kept = options->keeps_gradients ? gradients->all - gradients->so_far : 0;
    if (!has_all_before(walk))
        return 0;
    return (options->accumulation > 2 ? gradients->total : gradients->made + kept) +
           gradients->fresh;
}

/* The larger of what there is in the last pass and in one before it. */
static int64_t gradients_at_point(const struct walk *walk, const struct gradients *gradients)
{
    int64_t begun = walk_begins_with_gradients(walk) ? gradients->all : gradients->so_far;
    int64_t last = begun + gradients->fresh + gradients->leaving + gradients->before;
    int64_t earlier = in_earlier_pass(walk, gradients);
    return earlier > last ? earlier : last;
}

static int64_t all_elements(const struct walk *walk)
{
    int64_t sum = 0;
    for (size_t i = 0; i < walk->model->unit_count; i++)
        sum += walk->units[i].elements;
    return sum;
}

/* DDP's buckets hold all gradients, and stay for ever. The plain program has none. */
static int64_t bucket_elements(const struct walk *walk)
{
    int64_t exchanged = 0;
    if (walk->strategy == SHARD_SDP)
        return walk->bucket_elements;
    if (shard_is_plain(walk->strategy, walk->options->world))
        return 0;
    for (size_t i = 0; i < walk->model->unit_count; i++)
        exchanged += walk->units[i].exchanged;
    return exchanged;
}

void walk_replicated(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    struct gradients gradients = {0};
    struct shard_memory memory = {
        .parameter_bytes = all_elements(walk) * walk->size,
        .optimizer_state_bytes = walk->state_bytes,
        .buffer_bytes = bucket_elements(walk) * walk->gradient_size,
    };
    make_gradients(walk, 0, (uint32_t)model->tensor_count, &gradients);
    gradients.all = gradients.staying;
    gradients.total = gradients.fresh;
    if (has_all_before(walk))
        gradients.before = gradients.fresh - gradients.staying;
    for (size_t i = 0; i < model->point_count; i++) {
        const struct shard_point *point = &model->points[i];
        *walk->point = i;
        make_gradients(walk, point->first_tensor, point->end_tensor, &gradients);
        memory.gradient_bytes = gradients_at_point(walk, &gradients) * walk->gradient_size;
        walk_note(walk, walk_phase(point), walk_unit(walk, point), memory, point->peak_bytes);
        gradients.so_far += gradients.staying;
        gradients.made += gradients.fresh;
        if (gradients.fresh > 0 && frees_late(walk))
            gradients.leaving = gradients.fresh - gradients.staying;
        if (gradients.before >
            0) /* the new gradients are added to the old ones, which then leave */
            gradients.before -= gradients.fresh - gradients.staying;
    }
    *walk->point = model->point_count;
    int64_t temporary = walk->temporary_bytes, broadcast = walk->broadcast_bytes;
    memory.gradient_bytes = gradients.all * walk->gradient_size;
    memory.buffer_bytes += temporary > broadcast ? temporary : broadcast;
    walk_note(walk, SHARD_STEP, SHARD_ROOT, memory, model->end_bytes);
}
