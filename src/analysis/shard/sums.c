/* Sums of parameters, and the first and last points, of each unit of a walk. */
#include <string.h>

#include "analysis/shard/walk.h"

static void add_tensor(struct walk *walk, const struct shard_tensor *tensor)
{
    struct unit_sums *sums = &walk->units[tensor->unit];
    int64_t rows = tensor->rows > 0 ? tensor->rows : tensor->elements;
    int64_t width = rows > 0 ? tensor->elements / rows : 0;
    int64_t shard = walk_count(walk, tensor, (rows + walk->parts - 1) / walk->parts * width);
    int64_t elements = walk_elements(walk, tensor);
    sums->elements += elements;
    sums->trained += tensor->frozen ? 0 : elements;
    sums->exchanged += shard_is_trained(tensor) ? elements : 0;
    sums->shard += shard;
    sums->trained_shard += tensor->frozen ? 0 : shard;
}

/* Of the unit and those around it. */
static void add_point(struct walk *walk, uint32_t unit, size_t point)
{
    for (;;) {
        struct unit_sums *sums = &walk->units[unit];
        if (!walk->model->points[point].is_backward) {
            sums->last_forward = point;
        } else {
            if (sums->first_backward == SIZE_MAX)
                sums->first_backward = point;
            sums->last_backward = point;
        }
        if (sums->outer == SHARD_ROOT)
            return;
        unit = sums->outer;
    }
}

static void set_outers(struct walk *walk)
{
    for (size_t i = 0; i < walk->division->model.unit_count; i++) {
        uint32_t outer = walk->division->outers[i];
        walk->units[i].outer = outer;
        walk->units[outer].has_inner = outer != SHARD_ROOT;
    }
}

void walker_add_up(struct walk *walk)
{
    const struct shard_model *model = walk->model;
    memset(walk->units, 0, model->unit_count * sizeof(*walk->units));
    set_outers(walk);
    for (size_t i = 0; i < model->tensor_count; i++)
        add_tensor(walk, &model->tensors[i]);
    for (size_t i = 0; i < model->unit_count; i++) {
        struct unit_sums *sums = &walk->units[i];
        sums->last_forward = sums->first_backward = sums->last_backward = SIZE_MAX;
        if (walk->strategy != SHARD_FSDP && walk->strategy != SHARD_FSDP1)
            continue;
        sums->shard = (sums->elements + walk->parts - 1) / walk->parts;
        sums->trained_shard = sums->trained > 0 ? sums->shard : 0;
        if (walk_splits(walk))
            sums->trained_shard = (sums->trained + walk->parts - 1) / walk->parts;
    }
    for (size_t i = 0; i < model->point_count; i++)
        add_point(walk, walk_unit(walk, &model->points[i]), i);
}
