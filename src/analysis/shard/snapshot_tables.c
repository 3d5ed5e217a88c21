/* Tables of embeddings in a list. A table keeps nothing for backward, so that the chain does not
 * see that a line calls several; but each call allocates its output. */
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"

/* Consecutive calls of tables by one line. */
struct table_calls {
    struct stack caller;  /* from the line that calls them on */
    uint32_t first, last; /* items of the outputs of the first call and of the last one */
    size_t count;
    int64_t output;    /* bytes */
    size_t between;    /* allocations by the line itself, from one call to the next */
    size_t since;      /* the same, since the last call */
    bool is_irregular; /* their number varies, as in an expression of several terms */
};

static struct stack stack_at(const struct snapshot_reader *reader, uint32_t item)
{
    return symbols_stack_at(reader->symbols, reader->timeline->trace->stack[item]);
}

/* The frames from the line on that calls the table; none if no table runs. */
static struct stack caller_of(const struct snapshot_reader *reader, struct stack stack)
{
    size_t at = 0;
    while (at < stack.count && !snapshot_is_torch_file(reader, stack.frames[at], "sparse.py"))
        at++;
    while (at < stack.count && (snapshot_is_torch_file(reader, stack.frames[at], "sparse.py") ||
                                snapshot_is_torch_file(reader, stack.frames[at], "module.py")))
        at++;
    return (struct stack){.frames = stack.frames + at, .count = stack.count - at};
}

static bool is_same(struct stack a, struct stack b)
{
    return a.count == b.count && memcmp(a.frames, b.frames, a.count * sizeof(*a.frames)) == 0;
}

static void add_call(struct table_calls *calls, uint32_t item)
{
    if (calls->count == 0)
        calls->first = item;
    if (calls->count == 1)
        calls->between = calls->since;
    calls->is_irregular |= calls->count > 1 && calls->since != calls->between;
    calls->since = 0;
    calls->last = item;
    calls->count++;
}

/* The calls from lifetime *at on, and moves it behind them. A call may allocate more than its
 * output, which is larger than that. */
static struct table_calls read_calls(const struct snapshot_reader *reader, size_t *at)
{
    const struct timeline *timeline = reader->timeline;
    const struct lifetime *lives = timeline->lifetimes;
    struct table_calls calls = {0};
    size_t first = *at, end = first;
    for (; end < timeline->lifetime_count && lives[end].alloc < reader->chain->backward; end++) {
        struct stack caller = caller_of(reader, stack_at(reader, lives[end].alloc));
        int64_t size = (int64_t)trace_size(timeline->trace, lives[end].alloc);
        if (caller.count == 0)
            continue;
        if (calls.caller.count == 0)
            calls.caller = caller;
        if (!is_same(caller, calls.caller))
            break;
        calls.output = size > calls.output ? size : calls.output;
    }
    for (size_t i = first; i < end && calls.caller.count > 0; i++) {
        struct stack stack = stack_at(reader, lives[i].alloc);
        int64_t size = (int64_t)trace_size(timeline->trace, lives[i].alloc);
        if (size == calls.output && is_same(caller_of(reader, stack), calls.caller))
            add_call(&calls, lives[i].alloc);
        else
            calls.since += calls.count > 0 && is_same(stack, calls.caller);
    }
    *at = end;
    return calls;
}

/* Not two terms of a sum, such as the embeddings of words and places. */
static bool is_list(const struct table_calls *calls)
{
    bool is_sum = calls->count == 2 && calls->since > 0;
    return calls->count > 1 && !calls->is_irregular && !is_sum;
}

/* The layer in which the item is. */
static size_t layer_at(const struct snapshot_reader *reader, uint32_t item)
{
    const struct forward_chain *chain = reader->chain;
    size_t layer = 0;
    while (layer < chain->count && chain->elements[layer].first_item <= item)
        layer++;
    return layer;
}

/* The chain told them apart, or all are within one block of a list. */
static bool are_in_units(const struct snapshot_reader *reader, const struct table_calls *calls)
{
    size_t first = layer_at(reader, calls->first), last = layer_at(reader, calls->last);
    return snapshot_is_listed(reader, calls->caller) ||
           (first != last && snapshot_is_unit(reader, last));
}

/* The first of the gradients of these calls: they are made when nothing is left of what came behind
 * the calls. Returns the number of gradients if there are too few. */
static size_t first_gradient(const struct snapshot_reader *reader, const struct table_calls *calls)
{
    size_t at = 0;
    while (at < reader->all_made &&
           reader->latest[reader->made[at].item - reader->chain->backward] > calls->last + 1)
        at++;
    return at + calls->count <= reader->all_made ? at : reader->all_made;
}

/* Tables have no bias: what looked like pairs of gradients of one layer are two tables. */
static void undo_swap(struct made_gradient *made)
{
    int64_t bytes = made[0].bytes;
    if (!made[0].is_swapped)
        return;
    made[0].bytes = made[1].bytes;
    made[1].bytes = bytes;
    made[0].is_swapped = false;
}

static void set_calls(const struct snapshot_reader *reader, const struct table_calls *calls)
{
    size_t first = first_gradient(reader, calls);
    bool is_listed = is_list(calls) && !are_in_units(reader, calls);
    if (first == reader->all_made)
        return;
    if (first > 0)
        undo_swap(&reader->made[first - 1]);
    for (size_t i = 0; i < calls->count; i++) {
        undo_swap(&reader->made[first + i]);
        reader->made[first + i].is_table = true;
        reader->made[first + i].list = is_listed ? (uint32_t)(calls->count - i) : 0;
        reader->made[first + i].output = calls->output;
    }
}

void snapshot_find_tables(const struct snapshot_reader *reader)
{
    uint32_t first = reader->chain->first, run = phases_run_of(&reader->phases, first);
    size_t at =
        births_from(reader->timeline, run == NO_RUN ? first : reader->phases.runs[run].first);
    while (at < reader->timeline->lifetime_count &&
           reader->timeline->lifetimes[at].alloc < reader->chain->backward) {
        struct table_calls calls = read_calls(reader, &at);
        if (calls.count > 0)
            set_calls(reader, &calls);
    }
}

void snapshot_mark_tables(const struct snapshot_reader *reader)
{
    struct shard_model *model = reader->model;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct shard_layer *layer = &model->layers[i];
        bool is_one = layer->unit != SHARD_ROOT && layer->end_tensor == layer->first_tensor + 1;
        if (is_one && reader->made[snapshot_tensor_of(reader, layer->first_tensor)].is_table)
            model->units[layer->unit].lacks_input_gradient = true;
    }
}
