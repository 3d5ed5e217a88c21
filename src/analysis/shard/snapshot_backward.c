/* Which blocks a step keeps, and which layer runs backward at each moment. */
#include <stdlib.h>

#include "analysis/chain/pass.h"
#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"

#define MOST_STATES 2 /* of a parameter, as large as it: Adam's */

bool snapshot_is_counted(uint8_t category)
{
    return category != CATEGORY_PARAMETER && category != CATEGORY_GRADIENT &&
           category != CATEGORY_OPTIMIZER_STATE;
}

uint32_t snapshot_end_of(uint32_t free_requested, uint32_t free_completed)
{
    return free_completed != EVENT_NEVER ? free_completed : free_requested;
}

bool snapshot_keeps_gradient(const struct snapshot_reader *reader, int64_t alloc, uint32_t freed,
                             uint8_t category)
{
    return category == CATEGORY_GRADIENT && alloc < reader->chain->first &&
           freed >= reader->chain->end;
}

static void add_fixed(struct snapshot_reader *reader, int64_t alloc, uint32_t freed, int64_t size)
{
    int64_t first = reader->chain->first, end = reader->chain->end;
    if (alloc < first || alloc >= end || freed >= end)
        return; /* a workspace that stays from step to step counts as before */
    reader->fixed[alloc - first] += size;
    reader->fixed[freed - first] -= size;
}

/* `alloc` is negative for what is older than the trace. */
static void count_block(struct snapshot_reader *reader, int64_t alloc, uint32_t freed, int64_t size,
                        uint8_t category)
{
    const struct forward_chain *chain = reader->chain;
    int64_t first = chain->first, end = chain->end;
    if (category == CATEGORY_PARAMETER && alloc < chain->backward && freed >= chain->backward)
        reader->parameter_bytes += size;
    bool is_workspace = snapshot_keeps_gradient(reader, alloc, freed, category);
    if ((!snapshot_is_counted(category) && !is_workspace) || alloc >= end || freed < first)
        return;
    if (alloc < first)
        reader->start_bytes += size;
    else
        reader->change[alloc - first] += size;
    if (freed < end)
        reader->change[freed - first] -= size;
}

/* The parameters come from the gradients read backwards, but within one operator the order is
 * already that of the parameters: a linear layer or a convolution makes the gradient of its weight
 * and then that of its bias, with nothing but workspaces between them. The pair is swapped here, so
 * that reading backwards gives the weight first. An operator of its own, such as a norm, first
 * makes the gradient of its input, which outlives this. */
static bool put_bias_first(struct made_gradient *weight, struct made_gradient *bias)
{
    if (bias->bytes >= weight->bytes || weight->bytes % bias->bytes != 0)
        return false;
    int64_t bytes = weight->bytes;
    weight->bytes = bias->bytes;
    bias->bytes = bytes;
    weight->is_swapped = true;
    return true;
}

#define MOST_LEFT  (INT64_C(1) << 20) /* that the allocator leaves in a large block */
#define LEAST_SURE 20                 /* but not more than 1/20 of all */

/* A profile has one sum of all that was there before it. If there was more than the parameters,
 * then states of them come first, which the optimizer tells; the rest counts as buffers. Sizes are
 * those of blocks, and the block of a gradient may be larger than that of its parameter. */
static void divide_sum(struct snapshot_reader *reader, int64_t sum)
{
    int64_t parameters = 0, slack = 0;
    for (size_t i = 0; i < reader->made_count; i++) {
        parameters += reader->made[i].bytes;
        slack += reader->made[i].bytes > MOST_LEFT ? MOST_LEFT : 0;
    }
    slack = slack < parameters / LEAST_SURE ? slack : parameters / LEAST_SURE;
    int64_t states = parameters > 0 ? sum / (parameters - slack) - 1 : 0;
    states = states < 0 ? 0 : states > MOST_STATES ? MOST_STATES : states;
    reader->start_bytes -= sum;
    reader->parameter_bytes += sum - states * parameters;
    reader->model->before_bytes = sum;
    reader->model->lacks_lines = reader->timeline->snapshot->profile.lacks_lines;
}

void snapshot_count_blocks(struct snapshot_reader *reader)
{
    const struct timeline *timeline = reader->timeline;
    const struct forward_chain *chain = reader->chain;
    int64_t sum = 0;
    uint32_t between_freed = 0; /* when all blocks made since the last gradient are free; never if
                                   that gradient is a bias */
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        if (block->in_active)
            count_block(reader, -1, snapshot_end_of(block->free_requested, block->free_completed),
                        (int64_t)block->size, reader->categories.of_preexisting[i]);
        if (reason_of(reader->categories.why_preexisting[i]) == REASON_BEFORE_PROFILE)
            sum += (int64_t)block->size;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        uint32_t freed = snapshot_end_of(life->free_requested, life->free_completed);
        uint8_t category = reader->categories.of_lifetime[i];
        int64_t size = (int64_t)trace_size(timeline->trace, life->alloc);
        count_block(reader, life->alloc, freed, size, category);
        if (category_is_fixed((enum category)category, (uint64_t)size))
            add_fixed(reader, life->alloc, freed, size);
        if (life->alloc >= chain->backward && life->alloc < chain->end && size >= ELEMENT &&
            pass_makes_gradient(timeline, reader->sites, &reader->categories, i)) {
            struct made_gradient *made = &reader->made[reader->made_count++];
            *made = (struct made_gradient){.item = life->alloc, .bytes = size};
            bool is_bias = reader->made_count > 1 && between_freed < life->alloc &&
                           put_bias_first(made - 1, made);
            between_freed = is_bias ? EVENT_NEVER : 0;
        } else if (between_freed < freed) {
            between_freed = freed;
        }
        bool is_kept = category_is_saved((enum category)category) && life->alloc >= chain->first &&
                       life->alloc < chain->backward && freed >= chain->backward &&
                       freed < chain->end;
        if (is_kept && size > reader->model->tensor_bytes)
            reader->model->tensor_bytes = size;
        uint32_t *latest = is_kept ? &reader->latest[freed - chain->backward] : NULL;
        if (latest && *latest < life->alloc + 1)
            *latest = life->alloc + 1;
    }
    divide_sum(reader, sum);
}

static uint32_t element_of_item(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (chain->elements[middle].first_item <= item)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* A recurrent module of torch.nn made the last item that is left. */
static bool is_of_recurrent(const struct snapshot_reader *reader, uint32_t latest)
{
    if (latest == 0)
        return false;
    struct stack stack =
        symbols_stack_at(reader->symbols, reader->timeline->trace->stack[latest - 1]);
    for (size_t i = 0; i < stack.count; i++)
        if (snapshot_is_torch_file(reader, stack.frames[i], "rnn.py"))
            return true;
    return false;
}

static uint32_t latest_at(const struct snapshot_reader *reader, size_t made)
{
    return made < reader->all_made
               ? reader->latest[reader->made[made].item - reader->chain->backward]
               : 0;
}

/* A recurrent layer makes one gradient, while all that it kept is still there. Gradients made
 * before that may be of a layer that takes its output. */
static void mark_packing(struct snapshot_reader *reader)
{
    for (size_t i = 0; i < reader->all_made; i++) {
        uint32_t latest = latest_at(reader, i);
        reader->made[i].packs =
            latest_at(reader, i + 1) < latest && is_of_recurrent(reader, latest);
    }
}

#define MOST_RESULTS 8 /* of an operator; those of a loop's next iteration have the same stack */

/* The output of an element. Its operator may also make what it keeps longer, such as the statistics
 * of a norm. */
struct element_output {
    uint32_t element;
    uint32_t first, last; /* items of its operator from the output on; EVENT_NEVER: none */
    uint32_t freed;
};

static struct element_output output_of(const struct snapshot_reader *reader, uint32_t element)
{
    const struct timeline *timeline = reader->timeline;
    uint32_t item = reader->chain->elements[element].output_item;
    struct element_output output = {element, item, item, item};
    if (item == EVENT_NEVER)
        return output;
    size_t i = births_from(timeline, item);
    const struct lifetime *life = &timeline->lifetimes[i];
    output.freed = snapshot_end_of(life->free_requested, life->free_completed);
    stack_id stack = timeline->trace->stack[item];
    size_t end =
        timeline->lifetime_count - i > MOST_RESULTS ? i + MOST_RESULTS : timeline->lifetime_count;
    while (stack != STACK_NONE && ++i < end &&
           timeline->trace->stack[timeline->lifetimes[i].alloc] == stack) {
        const struct lifetime *other = &timeline->lifetimes[i];
        if (snapshot_end_of(other->free_requested, other->free_completed) < output.freed)
            break; /* the operator has run backward while its output was there */
        output.last = other->alloc;
    }
    return output;
}

/* The latest that is there is of the operator that made the output, which is there, too. So either
 * the next layer runs, or the own one with operators that take their result, such as a ReLU in
 * place. The next one makes its gradients before. */
static bool makes_gradient(const struct snapshot_reader *reader,
                           const struct element_output *output, size_t next)
{
    if (next >= reader->all_made)
        return false;
    uint32_t item = reader->made[next].item;
    return item <= output->freed && reader->latest[item - reader->chain->backward] > output->first;
}

/* The layer that runs backward at an item while `latest` - 1 is the last activation that is still
 * there, and `next` the next gradient. A gradient of parameters needs the input of its layer, and
 * only that of a recurrent layer the output: if the output is left of a layer, and nothing that it
 * made later, the next one runs. */
static uint32_t running_layer(const struct snapshot_reader *reader, struct element_output *output,
                              uint32_t item, size_t next)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t latest = reader->latest[item - chain->backward];
    bool needs_output = next < reader->all_made && reader->made[next].packs;
    if (latest == 0)
        return 0;
    uint32_t element = element_of_item(chain, latest - 1);
    if (output->element != element)
        *output = output_of(reader, element);
    bool is_output = !needs_output && latest - 1 >= output->first && latest - 1 <= output->last &&
                     item <= output->freed;
    if (is_output && latest - 1 > output->first)
        is_output = makes_gradient(reader, output, next);
    return element + 1 + (is_output && element + 1 < chain->count);
}

uint32_t snapshot_output_end(const struct snapshot_reader *reader, uint32_t item)
{
    uint32_t latest = reader->latest[item - reader->chain->backward];
    if (latest == 0)
        return EVENT_NEVER;
    struct element_output output = output_of(reader, element_of_item(reader->chain, latest - 1));
    bool is_later = output.first != EVENT_NEVER && latest - 1 > output.first &&
                    latest - 1 <= output.last && item <= output.freed;
    return is_later ? output.freed : EVENT_NEVER;
}

/* What is freed after the last gradient does not tell which layer runs: the program kept it, such
 * as the loss and the model's output. Only the input of the operator that made that gradient is
 * freed by the backward pass itself. */
void snapshot_set_layers(struct snapshot_reader *reader)
{
    const struct forward_chain *chain = reader->chain;
    uint32_t low = (uint32_t)chain->count;
    size_t items = chain->end - chain->backward;
    size_t end = reader->made[reader->all_made - 1].item - chain->backward + 1;
    uint32_t pass = phases_run_of(&reader->phases, reader->made[reader->all_made - 1].item);
    for (size_t i = end; i < items; i++)
        if (phases_run_of(&reader->phases, chain->backward + (uint32_t)i) != pass)
            reader->latest[i] = 0;
    for (size_t i = items; i-- > 1;)
        if (reader->latest[i - 1] < reader->latest[i])
            reader->latest[i - 1] = reader->latest[i];
    mark_packing(reader);
    struct element_output output = output_of(reader, low > 0 ? low - 1 : 0);
    for (size_t i = 0, next = 0; i < items; i++) {
        while (next < reader->all_made && reader->made[next].item < chain->backward + i)
            next++;
        uint32_t layer = running_layer(reader, &output, chain->backward + (uint32_t)i, next);
        low = layer < low ? layer : low;
        reader->running[i] = low;
    }
    for (size_t i = 0; i < reader->all_made; i++)
        reader->made[i].layer = reader->running[reader->made[i].item - chain->backward];
    snapshot_move_behind_loops(reader);
}
