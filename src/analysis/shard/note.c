#include "analysis/shard/walk.h"

/* Muon's step multiplies matrices, for which cuBLAS takes a workspace. The part of it that still
 * exists when backward has ended is counted in end_bytes. */
static int64_t workspace_of_step(const struct walk *walk)
{
    const struct shard_model *model = walk->model;
    int64_t more = model->library_bytes - model->end_bytes;
    return walk->multiplies && more > 0 ? more : 0;
}

/* The bytes of `residual` that a larger batch does not enlarge: workspaces, which exist only at the
 * peak of a point. */
static int64_t fixed_bytes(const struct walk *walk, int64_t residual)
{
    if (*walk->point >= walk->model->point_count)
        return 0;
    const struct shard_point *point = &walk->model->points[*walk->point];
    return residual == point->peak_bytes ? point->fixed_bytes : 0;
}

void walk_note(const struct walk *walk, enum shard_phase phase, uint32_t unit,
               struct shard_memory memory, int64_t residual)
{
    const struct shard_model *model = walk->model;
    double batch = walk->options->batch;
    int64_t fixed = fixed_bytes(walk, residual);
    struct shard_moment moment = {.phase = phase,
                                  .unit = unit,
                                  .point = *walk->point,
                                  .memory = memory,
                                  .growing_bytes = residual - fixed + model->batch_bytes};
    moment.memory.activation_bytes = fixed + (int64_t)((double)moment.growing_bytes * batch);
    bool moves = walk->strategy != SHARD_DDP && walk->strategy != SHARD_ZERO;
    if (moves && *walk->point < model->point_count)
        moment.memory.activation_bytes +=
            model->points[*walk->point].packed_elements * walk->compute_size;
    if (*walk->point < model->point_count)
        moment.memory.gradient_bytes +=
            model->points[*walk->point].early_elements * walk->compute_size;
    moment.memory.parameter_bytes += model->buffer_bytes;
    moment.memory.buffer_bytes +=
        phase == SHARD_STEP ? workspace_of_step(walk) : model->library_bytes;
    walk->take(walk->self, &moment);
}
