/* What the iterations of a loop keep beside the modules that they call, such as the results of
 * functions. The printed code wraps modules, so that checkpoints do not free it. */
#include "analysis/shard/snapshot_reader.h"

static bool is_line_of(const struct snapshot_reader *reader, const struct chain_loop *loop,
                       frame_id id)
{
    struct frame frame = symbols_frame_at(reader->symbols, id);
    struct frame line = symbols_frame_at(reader->symbols, loop->frame);
    return frame.file == line.file && frame.name == line.name && frame.line >= loop->first_line &&
           frame.line <= loop->last_line;
}

/* A line of the loop made it, and called no module for it. */
static bool is_beside(const struct snapshot_reader *reader, const struct chain_loop *loop,
                      uint32_t item)
{
    struct stack stack = symbols_stack_at(reader->symbols, reader->timeline->trace->stack[item]);
    for (size_t i = 0; i < stack.count; i++) {
        if (snapshot_is_torch_file(reader, stack.frames[i], "module.py"))
            return false;
        if (is_line_of(reader, loop, stack.frames[i]))
            return true;
    }
    return false;
}

/* The index of the first kept item that is not before `item`. */
static size_t kept_from(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->kept_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chain->kept[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t snapshot_beside(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t number = snapshot_part(reader, layer)->loop;
    int64_t bytes = 0;
    if (layer < SHARD_FIRST_ELEMENT || number == NO_LOOP)
        return 0;
    const struct chain_loop *loop = &chain->loops[number];
    size_t element = layer - SHARD_FIRST_ELEMENT;
    uint32_t end =
        element + 1 < chain->count ? chain->elements[element + 1].first_item : chain->backward;
    if (loop->frame == NO_FRAME)
        return 0;
    for (size_t i = kept_from(chain, chain->elements[element].first_item);
         i < chain->kept_count && chain->kept[i] < end; i++) {
        uint32_t item = chain->kept[i];
        if (item != chain->elements[element].output_item && is_beside(reader, loop, item))
            bytes += (int64_t)trace_size(reader->timeline->trace, item);
    }
    return bytes;
}
