/* Memory that the iterations of a loop keep for code beside the modules that they call, such as
 * results of functions. The printed code wraps modules, so checkpoints do not free this memory.
 * Also tells whether the code wraps one module for each iteration. */
#include "analysis/chain/held.h"
#include "analysis/shard/snapshot_reader.h"

static bool is_line_of(const struct snapshot_reader *reader, const struct chain_loop *loop,
                       frame_id id)
{
    struct frame frame = symbols_frame_at(reader->symbols, id);
    struct frame line = symbols_frame_at(reader->symbols, loop->frame);
    return frame.file == line.file && frame.name == line.name && frame.line >= loop->first_line &&
           frame.line <= loop->last_line;
}

/* The line of the loop in the stack of an item, and whether it called a module for it; or NO_FRAME.
 */
static frame_id line_of(const struct snapshot_reader *reader, const struct chain_loop *loop,
                        uint32_t item, bool *calls)
{
    struct stack stack = symbols_stack_at(reader->symbols, reader->timeline->trace->stack[item]);
    *calls = false;
    for (size_t i = 0; i < stack.count; i++) {
        if (is_line_of(reader, loop, stack.frames[i]))
            return stack.frames[i];
        *calls |= snapshot_is_torch_file(reader, stack.frames[i], "module.py");
    }
    return NO_FRAME;
}

static bool is_beside(const struct snapshot_reader *reader, const struct chain_loop *loop,
                      uint32_t item)
{
    bool calls;
    return line_of(reader, loop, item, &calls) != NO_FRAME && !calls;
}

/* The loop of a layer, if its lines are known; and the kept items of the layer. */
static const struct chain_loop *loop_of(const struct snapshot_reader *reader, size_t layer,
                                        size_t *first, size_t *end)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t number = snapshot_part(reader, layer)->loop;
    if (layer < SHARD_FIRST_ELEMENT || number == NO_LOOP || chain->loops[number].frame == NO_FRAME)
        return NULL;
    size_t element = layer - SHARD_FIRST_ELEMENT;
    *first = chain_kept_from(chain, chain->elements[element].first_item);
    *end = element + 1 < chain->count
               ? chain_kept_from(chain, chain->elements[element + 1].first_item)
               : chain_kept_from(chain, chain->backward);
    return &chain->loops[number];
}

int64_t snapshot_beside(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    size_t first, end;
    const struct chain_loop *loop = loop_of(reader, layer, &first, &end);
    int64_t bytes = 0;
    for (size_t i = first; loop && i < end; i++) {
        uint32_t item = chain->kept[i];
        if (item != chain->elements[layer - SHARD_FIRST_ELEMENT].output_item &&
            is_beside(reader, loop, item))
            bytes += (int64_t)trace_size(reader->timeline->trace, item);
    }
    return bytes;
}

/* Several lines of an iteration call modules. */
static bool calls_several(const struct snapshot_reader *reader, size_t layer)
{
    size_t first, end;
    const struct chain_loop *loop = loop_of(reader, layer, &first, &end);
    frame_id known = NO_FRAME;
    for (size_t i = first; loop && i < end; i++) {
        bool calls;
        frame_id line = line_of(reader, loop, reader->chain->kept[i], &calls);
        if (calls && line != NO_FRAME && known != NO_FRAME && line != known)
            return true;
        if (calls && line != NO_FRAME)
            known = line;
    }
    return false;
}

/* A torch.nn.Sequential calls it. */
static bool is_listed(const struct snapshot_reader *reader, size_t layer)
{
    if (layer < SHARD_FIRST_ELEMENT)
        return false;
    uint32_t item = reader->chain->elements[layer - SHARD_FIRST_ELEMENT].first_item;
    return snapshot_is_listed(
        reader, symbols_stack_at(reader->symbols, reader->timeline->trace->stack[item]));
}

bool snapshot_guesses_units(const struct snapshot_reader *reader)
{
    for (size_t i = 0; i < reader->model->layer_count; i++) {
        uint32_t loop = snapshot_part(reader, i)->loop;
        if (reader->model->layers[i].unit == SHARD_ROOT || loop == NO_LOOP || is_listed(reader, i))
            continue;
        if (calls_several(reader, i) || reader->chain->loops[loop].is_nested)
            return true;
    }
    return false;
}
