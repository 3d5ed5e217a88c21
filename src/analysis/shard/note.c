#include "analysis/shard/walk.h"

void walk_note(const struct walk *walk, enum shard_phase phase, uint32_t unit,
               struct shard_memory memory, int64_t residual)
{
    const struct shard_model *model = walk->model;
    double batch = walk->options->batch;
    struct shard_moment moment = {
        .phase = phase, .unit = unit, .point = *walk->point, .memory = memory};
    moment.memory.activation_bytes = (int64_t)((double)(residual + model->batch_bytes) * batch);
    moment.memory.parameter_bytes += model->buffer_bytes;
    if (phase != SHARD_STEP)
        moment.memory.buffer_bytes += model->library_bytes;
    walk->take(walk->self, &moment);
}
