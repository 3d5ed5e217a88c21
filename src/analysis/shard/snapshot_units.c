/* Which layers of a snapshot are modules of lists, as the printed code finds them. */
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"

const struct chain_part *snapshot_part(const struct snapshot_reader *reader, size_t layer)
{
    const struct forward_chain *chain = reader->chain;
    return &chain->parts[chain->elements[layer > 0 ? layer - 1 : 0].first_part];
}

static struct stack stack_of(const struct snapshot_reader *reader, uint32_t item)
{
    return symbols_stack_at(reader->symbols, reader->timeline->trace->stack[item]);
}

static bool is_forward(const struct snapshot_reader *reader, frame_id id)
{
    struct text name = symbols_text(reader->symbols, symbols_frame_at(reader->symbols, id).name);
    return text_equals(name, "forward") || text_ends(name, ".forward");
}

bool snapshot_is_torch_file(const struct snapshot_reader *reader, frame_id id, const char *name)
{
    struct text file = symbols_text(reader->symbols, symbols_frame_at(reader->symbols, id).file);
    if (!text_ends(file, name))
        return false;
    struct text folder = {file.bytes, file.size - strlen(name)};
    return text_ends(folder, "torch/nn/modules/") || text_ends(folder, "torch\\nn\\modules\\");
}

/* That of torch.nn.Sequential. */
static bool is_sequential(const struct snapshot_reader *reader, frame_id id)
{
    return is_forward(reader, id) && snapshot_is_torch_file(reader, id, "container.py");
}

bool snapshot_packs(const struct snapshot_reader *reader, size_t layer)
{
    if (layer < SHARD_FIRST_ELEMENT)
        return false;
    size_t element = layer - SHARD_FIRST_ELEMENT;
    struct stack stack = stack_of(reader, reader->chain->elements[element].first_item);
    for (size_t i = 0; i < stack.count; i++)
        if (snapshot_is_torch_file(reader, stack.frames[i], "rnn.py"))
            return true;
    return false;
}

bool snapshot_is_listed(const struct snapshot_reader *reader, struct stack stack)
{
    for (size_t i = 0; i < stack.count; i++)
        if (is_sequential(reader, stack.frames[i]))
            return true;
    return false;
}

bool snapshot_is_unit(const struct snapshot_reader *reader, size_t layer)
{
    if (snapshot_part(reader, layer)->loop != NO_LOOP)
        return true;
    if (layer < SHARD_FIRST_ELEMENT)
        return false;
    size_t element = layer - SHARD_FIRST_ELEMENT;
    return snapshot_is_listed(reader,
                              stack_of(reader, reader->chain->elements[element].first_item));
}

/* The number of outermost frames that stacks share, at most `most`. */
static size_t shared_frames(struct stack a, struct stack b, size_t most)
{
    size_t count = 0;
    while (count < most && count < a.count && count < b.count &&
           a.frames[a.count - 1 - count] == b.frames[b.count - 1 - count])
        count++;
    return count;
}

/* True if a Sequential calls a module whose forward is among the outermost frames. */
static bool is_in_listed(const struct snapshot_reader *reader, struct stack stack, size_t frames)
{
    bool is_listed = false;
    for (size_t i = 0; i < frames; i++) {
        frame_id id = stack.frames[stack.count - 1 - i];
        if (is_sequential(reader, id))
            is_listed = true;
        else if (is_listed && is_forward(reader, id))
            return true;
    }
    return false;
}

/* Both elements are within one line of modules that a Sequential calls. */
static bool is_hidden(const struct snapshot_reader *reader, size_t element)
{
    const struct forward_chain *chain = reader->chain;
    const struct timeline *timeline = reader->timeline;
    uint32_t first = chain->elements[element].first_item;
    uint32_t end =
        element + 2 < chain->count ? chain->elements[element + 2].first_item : chain->backward;
    struct stack stack = stack_of(reader, first);
    size_t shared = stack.count, i = births_from(timeline, first);
    for (; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end && shared > 0; i++) {
        struct stack other = stack_of(reader, timeline->lifetimes[i].alloc);
        if (other.count > 0)
            shared = shared_frames(stack, other, shared);
    }
    return is_in_listed(reader, stack, shared);
}

bool snapshot_hides_units(const struct snapshot_reader *reader)
{
    const struct forward_chain *chain = reader->chain;
    for (size_t i = 0; i + 1 < chain->count; i++) {
        uint32_t loop = snapshot_part(reader, i + SHARD_FIRST_ELEMENT)->loop;
        if (loop != NO_LOOP && snapshot_part(reader, i + 1 + SHARD_FIRST_ELEMENT)->loop == loop &&
            is_hidden(reader, i))
            return true;
    }
    return false;
}
