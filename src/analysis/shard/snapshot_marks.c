/* Which blocks are trained. Sizes tell how many parameters are, not which; blocks that are alike
 * need not all be trained, nor the last ones. The gradients of a block's layer tell. */
#include "analysis/shard/snapshot_reader.h"

/* Marks the parameter of a block that a gradient of the block's layer belongs to. */
static bool mark_one(struct held_parameter *rows, size_t count, int64_t bytes)
{
    for (size_t i = count; i-- > 0;) {
        if (rows[i].bytes != bytes || rows[i].is_trained || rows[i].is_buffer)
            continue;
        rows[i].is_trained = true;
        return true;
    }
    return false;
}

/* As many of a size are trained as before: what the blocks gain, another row of that size loses. */
static void exchange_mark(struct held_parameters *held, struct held_parameter *rows, size_t count,
                          size_t at)
{
    struct held_parameter *row = &rows[at], *other;
    for (size_t i = at + 1; i < count; i++) {
        other = &rows[i];
        if (other->bytes != row->bytes || other->was_trained == other->is_trained ||
            other->is_trained == row->is_trained)
            continue;
        other->was_trained = other->is_trained;
        return;
    }
    for (size_t i = held->count; i-- > 0;) {
        other = &held->rows[i];
        bool is_within = other >= rows && other < rows + count;
        if (is_within || other->bytes != row->bytes || other->is_buffer ||
            other->layer != FROZEN_NOWHERE || other->is_trained != row->is_trained)
            continue;
        other->is_trained = !row->is_trained;
        return;
    }
}

void snapshot_mark_blocks(const struct snapshot_reader *reader, struct held_parameters *held,
                          struct held_parameter *rows, size_t period, const uint32_t *layers,
                          size_t blocks)
{
    const struct shard_model *model = reader->model;
    size_t count = period * blocks;
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        rows[i].was_trained = rows[i].is_trained;
        rows[i].is_trained = false;
    }
    for (size_t block = 0; block < blocks; block++) {
        const struct shard_layer *layer = &model->layers[layers[block]];
        for (uint32_t i = layer->first_tensor; ok && i < layer->end_tensor; i++)
            ok = mark_one(rows + block * period, period, model->tensors[i].elements * ELEMENT);
    }
    for (size_t i = 0; i < count; i++) {
        if (!ok)
            rows[i].is_trained = rows[i].was_trained;
        if (rows[i].is_trained != rows[i].was_trained)
            exchange_mark(held, rows, count, i);
    }
}
