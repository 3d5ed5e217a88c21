/* Which layers run behind the model: the loss. */
#include "analysis/shard/snapshot_reader.h"

bool snapshot_model_line(const struct snapshot_reader *reader, stack_id stack, frame_id *line,
                         struct error *err)
{
    struct site site;
    *line = NO_FRAME;
    if (stack == STACK_NONE)
        return true;
    if (!site_of(reader->sites, stack, &site, err))
        return false;
    site_at_model_call(reader->sites, stack, &site);
    uint32_t at = site_line(&site);
    if (at != NO_FRAME)
        *line = symbols_stack_at(reader->symbols, stack).frames[at];
    return true;
}

static bool line_of(const struct snapshot_reader *reader, size_t layer, frame_id *line,
                    struct error *err)
{
    uint32_t item = reader->chain->elements[layer - SHARD_FIRST_ELEMENT].first_item;
    return snapshot_model_line(reader, reader->timeline->trace->stack[item], line, err);
}

/* The loss is what other lines of the program than the model's allocate behind the last layer with
 * parameters. A loss that the model computes itself counts as a part of the model. */
bool snapshot_find_loss(struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    size_t last = model->layer_count;
    frame_id call, line;
    while (last > SHARD_FIRST_ELEMENT &&
           model->layers[last - 1].end_tensor == model->layers[last - 1].first_tensor)
        last--;
    if (last <= SHARD_FIRST_ELEMENT)
        return true;
    if (!line_of(reader, last - 1, &call, err))
        return false;
    bool is_outside = false;
    for (size_t i = last; call != NO_FRAME && i < model->layer_count; i++) {
        if (!line_of(reader, i, &line, err))
            return false;
        is_outside |= line != NO_FRAME && line != call;
        model->layers[i].outside = is_outside;
    }
    return true;
}
