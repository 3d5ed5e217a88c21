/* Which layers of a snapshot are modules of lists, as the printed code finds them. */
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

bool snapshot_is_listed(const struct snapshot_reader *reader, struct stack stack)
{
    for (size_t i = 0; i < stack.count; i++)
        if (snapshot_is_list(reader, stack.frames[i]))
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
        if (snapshot_is_list(reader, id))
            is_listed = true;
        else if (is_listed && snapshot_is_forward(reader, id))
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

static bool has_parameters(const struct snapshot_reader *reader, size_t layer)
{
    const struct shard_layer *found = &reader->model->layers[layer];
    return found->end_tensor > found->first_tensor;
}

static void move_to_root(struct shard_model *model, size_t layer)
{
    struct shard_layer *moved = &model->layers[layer];
    moved->unit = SHARD_ROOT;
    for (uint32_t i = moved->first_tensor; i < moved->end_tensor; i++)
        model->tensors[i].unit = SHARD_ROOT;
}

/* Nothing but one line of the program allocates in the layer. */
static bool has_one_line(const struct snapshot_reader *reader, size_t layer, bool *has_one,
                         struct error *err)
{
    const struct timeline *timeline = reader->timeline;
    const struct forward_chain *chain = reader->chain;
    uint32_t first = chain->elements[layer - SHARD_FIRST_ELEMENT].first_item;
    uint32_t end = layer < chain->count ? chain->elements[layer].first_item : chain->backward;
    frame_id line, one;
    *has_one = true;
    if (!snapshot_line_of(reader, timeline->trace->stack[first], &one, err))
        return false;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (!snapshot_line_of(reader, stack, &line, err))
            return false;
        *has_one &= line == one;
    }
    return true;
}

/* The iterations are terms of an expression, such as the last two layers of a model. Layers of a
 * list have mostly equal parameters, those of an expression need not have them; what a Sequential
 * calls is a list anyway. */
static bool are_terms(const struct snapshot_reader *reader, size_t layer, bool *are,
                      struct error *err)
{
    const struct chain_element *element = &reader->chain->elements[layer - SHARD_FIRST_ELEMENT];
    stack_id stack = reader->timeline->trace->stack[element->first_item];
    bool differ = element[-1].activation_bytes != element->activation_bytes ||
                  element[-1].output_bytes != element->output_bytes;
    if (!has_one_line(reader, layer - 1, are, err))
        return false;
    *are &= differ && !snapshot_is_listed(reader, symbols_stack_at(reader->symbols, stack));
    return true;
}

/* Two calls on one line look like a loop of two, for example the embeddings of words and places.
 * Layers of a loop both have parameters. */
bool snapshot_undo_false_loops(struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    for (size_t i = 2; i < model->layer_count; i++) {
        uint32_t loop = snapshot_part(reader, i)->loop;
        bool are = true;
        if (loop == NO_LOOP || snapshot_part(reader, i - 1)->loop != loop ||
            reader->chain->loops[loop].iterations != 2)
            continue;
        if (has_parameters(reader, i - 1) && has_parameters(reader, i) &&
            !are_terms(reader, i, &are, err))
            return false;
        for (size_t k = i > 2 ? i - 1 : 0; are && k <= i; k++)
            move_to_root(model, k);
    }
    return true;
}
