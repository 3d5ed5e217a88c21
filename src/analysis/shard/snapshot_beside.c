/* Memory that the iterations of a loop keep for code beside the modules that they call, such as
 * results of functions. The printed code wraps modules, so checkpoints do not free this memory.
 * Also tells whether the code wraps one module for each iteration. */
#include "analysis/chain/held.h"
#include "analysis/phase/births.h"
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

/* The items that a layer keeps: first <= i < end. */
static void kept_of(const struct snapshot_reader *reader, size_t layer, size_t *first, size_t *end)
{
    const struct forward_chain *chain = reader->chain;
    size_t element = layer - SHARD_FIRST_ELEMENT;
    *first = chain_kept_from(chain, chain->elements[element].first_item);
    *end = element + 1 < chain->count
               ? chain_kept_from(chain, chain->elements[element + 1].first_item)
               : chain_kept_from(chain, chain->backward);
}

/* The loop of a layer, if its lines are known. */
static const struct chain_loop *loop_of(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t number = snapshot_part(reader, layer)->loop;
    bool is_known =
        layer >= SHARD_FIRST_ELEMENT && number != NO_LOOP && chain->loops[number].frame != NO_FRAME;
    return is_known ? &chain->loops[number] : NULL;
}

static int64_t beside(const struct snapshot_reader *reader, const struct chain_loop *loop,
                      size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    size_t first, end;
    int64_t bytes = 0;
    kept_of(reader, layer, &first, &end);
    for (size_t i = first; i < end; i++) {
        uint32_t item = chain->kept[i];
        if (item != chain->elements[layer - SHARD_FIRST_ELEMENT].output_item &&
            is_beside(reader, loop, item))
            bytes += (int64_t)trace_size(reader->timeline->trace, item);
    }
    return bytes;
}

int64_t snapshot_beside(const struct snapshot_reader *reader, size_t layer)
{
    const struct chain_loop *loop = loop_of(reader, layer);
    return loop ? beside(reader, loop, layer) : 0;
}

int64_t snapshot_beside_line(const struct snapshot_reader *reader, size_t layer, frame_id line)
{
    uint32_t number = symbols_frame_at(reader->symbols, line).line;
    struct chain_loop loop = {.frame = line, .first_line = number, .last_line = number};
    return beside(reader, &loop, layer);
}

bool snapshot_passes(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t item = chain->elements[layer - SHARD_FIRST_ELEMENT].output_item;
    if (item == EVENT_NEVER)
        return false;
    const struct lifetime *life = &reader->timeline->lifetimes[births_from(reader->timeline, item)];
    return snapshot_end_of(life->free_requested, life->free_completed) < chain->backward;
}

/* The backward pass of the next element makes a gradient of the output's size, and leaves it. */
static bool has_gradient(const struct snapshot_reader *reader, size_t element)
{
    const struct timeline *timeline = reader->timeline;
    const struct forward_chain *chain = reader->chain;
    uint32_t begin =
        element + 2 < chain->count ? chain->elements[element + 2].backward_end : chain->backward;
    uint32_t end = chain->elements[element + 1].backward_end;
    uint64_t bytes = (uint64_t)chain->elements[element].output_bytes;
    for (size_t i = births_from(timeline, begin);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        if (trace_size(timeline->trace, life->alloc) == bytes &&
            snapshot_end_of(life->free_requested, life->free_completed) > end)
            return true;
    }
    return false;
}

/* The largest tensor of an iteration, which counts as its output, may be a sum of the modules'
 * results, such as the sum of skip connections. No module takes that sum as its input: so the
 * backward pass makes no gradient for it, and the next iteration replaces it. */
bool snapshot_is_sum(const struct snapshot_reader *reader, size_t layer)
{
    size_t element = layer - SHARD_FIRST_ELEMENT;
    const struct chain_element *found = &reader->chain->elements[element];
    const struct chain_loop *loop = loop_of(reader, layer);
    return loop && found->passed_bytes > 0 && found->output_passes &&
           found->output_item != EVENT_NEVER && element + 1 < reader->chain->count &&
           is_beside(reader, loop, found->output_item) && !has_gradient(reader, element);
}

/* Several lines of an iteration call modules, also for what they do not keep. */
static bool calls_several(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    const struct timeline *timeline = reader->timeline;
    const struct chain_loop *loop = loop_of(reader, layer);
    frame_id known = NO_FRAME;
    if (!loop)
        return false;
    uint32_t first = chain->elements[layer - SHARD_FIRST_ELEMENT].first_item;
    uint32_t end = layer < chain->count ? chain->elements[layer].first_item : chain->backward;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        bool calls;
        frame_id line = line_of(reader, loop, timeline->lifetimes[i].alloc, &calls);
        if (calls && line != NO_FRAME && known != NO_FRAME && line != known)
            return true;
        if (calls && line != NO_FRAME)
            known = line;
    }
    return false;
}

bool snapshot_layer_is_listed(const struct snapshot_reader *reader, size_t layer)
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
        const struct chain_part *part = snapshot_part(reader, i);
        if (reader->model->layers[i].unit == SHARD_ROOT || part->loop == NO_LOOP ||
            snapshot_layer_is_listed(reader, i))
            continue;
        bool is_within = reader->chain->loops[part->loop].is_nested && part->around == NO_LOOP;
        if (is_within || calls_several(reader, i))
            return true;
    }
    return false;
}
