#include "analysis/shard/walk.h"

/* Muon's step multiplies matrices, for which cuBLAS takes a workspace. The part of it that still
 * exists when backward has ended is counted in end_bytes. */
static int64_t workspace_of_step(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    int64_t more = model->library_bytes - model->end_bytes;
    return walk->multiplies && more > 0 ? more : 0;
}

/* Divides `residual` by what a larger batch makes of it; returns the bytes that it leaves as they
 * are. Workspaces exist only at the peak of a point. */
static int64_t divide(const struct walk *walk, int64_t residual, struct shard_moment *moment)
{
    moment->growing_bytes = residual + walk->model->batch_bytes;
    if (*walk->point >= walk->model->point_count)
        return 0;
    const struct shard_point *point = &walk->model->points[*walk->point];
    if (residual != point->peak_bytes)
        return 0;
    moment->limited_bytes = point->limited_bytes;
    moment->limit_bytes = point->limit_bytes;
    moment->growing_bytes -= point->fixed_bytes + point->limited_bytes;
    return point->fixed_bytes;
}

/* The optimizer adds the gradients of the backward pass to its own ones and drops them before its
 * step. */
static void add_main_gradients(const struct walk *walk, struct shard_moment *moment)
{
    if (!walk->options->has_main_gradients)
        return;
    moment->main_gradient_bytes = walk_offloads(walk) ? 0 : walk->main_gradient_bytes;
    if (moment->phase == SHARD_STEP && !walk->options->keeps_gradients)
        moment->memory.gradient_bytes = 0;
    moment->memory.gradient_bytes += moment->main_gradient_bytes;
}

int64_t shard_enlarged(const struct shard_moment *moment, double batch)
{
    int64_t limited = (int64_t)((double)moment->limited_bytes * batch);
    if (limited > moment->limit_bytes)
        limited = moment->limit_bytes;
    return (int64_t)((double)moment->growing_bytes * batch) + limited;
}

void walk_note(const struct walk *walk, enum shard_phase phase, uint32_t unit,
               struct shard_memory memory, int64_t residual)
{
    const struct shard_model *model = walk->model;
    struct shard_moment moment = {
        .phase = phase, .unit = walk_origin(walk, unit), .point = *walk->point, .memory = memory};
    int64_t fixed = divide(walk, residual, &moment);
    moment.memory.activation_bytes = fixed + shard_enlarged(&moment, walk->options->batch);
    bool moves = walk->strategy != SHARD_DDP && walk->strategy != SHARD_ZERO;
    if (moves && *walk->point < model->point_count)
        moment.memory.activation_bytes +=
            model->points[*walk->point].packed_elements * walk->compute_size;
    if (*walk->point < model->point_count)
        moment.memory.gradient_bytes +=
            model->points[*walk->point].early_elements * walk->compute_size;
    add_main_gradients(walk, &moment);
    moment.memory.parameter_bytes += model->buffer_bytes;
    moment.memory.buffer_bytes +=
        phase == SHARD_STEP ? workspace_of_step(walk) : model->library_bytes;
    walk->take(walk->self, &moment);
}
