/* Which parameters a snapshot has, and which of them are frozen: those without a gradient of their
 * size. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

#define BUFFERS 50 /* what is not trained is buffers, if it is less than 1/50 of all */

static bool is_apply(const struct symbols *symbols, frame_id id)
{
    struct frame frame = symbols_frame_at(symbols, id);
    struct text file = symbols_text(symbols, frame.file);
    return text_equals(symbols_text(symbols, frame.name), "_apply") &&
           (text_ends(file, "torch/nn/modules/module.py") ||
            text_ends(file, "torch\\nn\\modules\\module.py"));
}

/* The line of torch.nn.Module._apply() that moved it, or 0. */
static uint32_t apply_line(const struct snapshot_reader *reader, stack_id id)
{
    struct stack stack = symbols_stack_at(reader->symbols, id);
    for (size_t i = 0; i < stack.count; i++)
        if (is_apply(reader->symbols, stack.frames[i]))
            return symbols_frame_at(reader->symbols, stack.frames[i]).line;
    return 0;
}

/* A module moves its own parameters when those within it have moved theirs. */
static bool is_of_model(const struct snapshot_reader *reader, stack_id id)
{
    struct stack stack = symbols_stack_at(reader->symbols, id);
    size_t depth = 0;
    for (size_t i = 0; i < stack.count; i++)
        depth += is_apply(reader->symbols, stack.frames[i]);
    return depth == 1;
}

bool snapshot_line_of(const struct snapshot_reader *reader, stack_id stack, frame_id *line,
                      struct error *err)
{
    struct site site;
    *line = NO_FRAME;
    if (stack == STACK_NONE)
        return true;
    if (!site_of(reader->sites, stack, &site, err))
        return false;
    uint32_t at = site_line(&site);
    if (at != NO_FRAME)
        *line = symbols_stack_at(reader->symbols, stack).frames[at];
    return true;
}

static bool is_constructor(const struct symbols *symbols, frame_id id)
{
    return text_equals(symbols_text(symbols, symbols_frame_at(symbols, id).name), "__init__");
}

/* The line that had the model made: where constructors make parameters on the device, each at a
 * line of its own, the one that called the outermost of them; else snapshot_line_of(). */
static bool maker_of(const struct snapshot_reader *reader, stack_id id, frame_id *line,
                     struct error *err)
{
    struct stack stack = symbols_stack_at(reader->symbols, id);
    frame_id caller = NO_FRAME;
    if (!snapshot_line_of(reader, id, line, err))
        return false;
    for (size_t i = id == STACK_NONE ? 0 : stack.count; i-- > 0;) {
        if (site_frame_kind(reader->sites, stack.frames[i]) != FRAME_USER)
            continue;
        if (is_constructor(reader->symbols, stack.frames[i]) && caller != NO_FRAME) {
            *line = caller;
            break;
        }
        caller = stack.frames[i];
    }
    return true;
}

/* Module._apply() moves the parameters of a module at one line, and its buffers at a later one. */
static bool add_held(struct snapshot_reader *reader, struct held_parameters *held,
                     struct held_parameter row, stack_id stack, uint32_t *first_line,
                     struct error *err)
{
    uint32_t line = apply_line(reader, stack);
    if (line > 0 && (*first_line == 0 || line < *first_line))
        *first_line = line;
    row.layer = line; /* until all are known */
    row.is_of_model = line > 0 && is_of_model(reader, stack);
    return snapshot_line_of(reader, stack, &row.maker, err) &&
           (line > 0 ? snapshot_line_of : maker_of)(reader, stack, &row.line, err) &&
           vec_push(held->rows, held->count, held->capacity, reader->model->budget, err, row);
}

static bool is_there(const struct snapshot_reader *reader, uint32_t free_requested,
                     uint32_t free_completed)
{
    uint32_t freed = free_completed != EVENT_NEVER ? free_completed : free_requested;
    return freed >= reader->chain->backward;
}

static bool add_all(struct snapshot_reader *reader, struct held_parameters *held,
                    uint32_t *first_line, struct error *err)
{
    const struct timeline *timeline = reader->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        if (reader->categories.of_preexisting[i] != CATEGORY_PARAMETER || !block->in_active ||
            !is_there(reader, block->free_requested, block->free_completed))
            continue;
        struct held_parameter row = {.bytes = (int64_t)block->size, .order = block->addr};
        if (!add_held(reader, held, row, block->stack, first_line, err))
            return false;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        if (life->alloc >= reader->chain->backward)
            break;
        if (reader->categories.of_lifetime[i] != CATEGORY_PARAMETER ||
            !is_there(reader, life->free_requested, life->free_completed))
            continue;
        struct held_parameter row = {.bytes = (int64_t)trace_size(timeline->trace, life->alloc),
                                     .order = HELD_IN_TRACE + life->alloc};
        if (!add_held(reader, held, row, timeline->trace->stack[life->alloc], first_line, err))
            return false;
    }
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* By size, and the last first. */
static int compare_held(const void *a, const void *b)
{
    const struct held_parameter *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->order < y->order) - (x->order > y->order);
}

static int compare_orders(const void *a, const void *b)
{
    const struct held_parameter *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Of the parameters of one size, those made last are taken for the trained ones: programs freeze
 * the first layers of a model, and add adapters later. Returns true if there are exactly twice as
 * many parameters of each size as gradients, as if there was a copy of the model. */
static bool mark_trained(struct held_parameters *held, const int64_t *sizes, size_t count,
                         int64_t *matched)
{
    bool is_copied = true;
    size_t at = 0;
    for (size_t i = 0; i < held->count; i++)
        held->rows[i].is_other = true;
    for (size_t i = 0; i < count;) {
        size_t end = i, there = 0;
        while (end < count && sizes[end] == sizes[i])
            end++;
        while (at < held->count && held->rows[at].bytes < sizes[i])
            at++;
        for (; at < held->count && held->rows[at].bytes == sizes[i]; at++) {
            held->rows[at].is_other = false;
            if (held->rows[at].is_buffer)
                continue;
            held->rows[at].is_trained = there++ < end - i;
            *matched += held->rows[at].is_trained ? sizes[i] : 0;
        }
        is_copied &= there >= 2 * (end - i);
        i = end;
    }
    return is_copied;
}

/* The lines that made what is trained also made parameters of sizes that are not trained, such as a
 * frozen embedding. Of a copied model there would be two of these, too. The rows are ordered by
 * line. */
static bool has_others(const struct held_parameters *held)
{
    int64_t all = 0, others = 0;
    for (size_t first = 0, end; first < held->count; first = end) {
        int64_t bytes = 0;
        bool has_trained = false;
        for (end = first; end < held->count && held->rows[end].line == held->rows[first].line;
             end++) {
            const struct held_parameter *row = &held->rows[end];
            has_trained |= row->is_trained;
            all += row->is_buffer ? 0 : row->bytes;
            bytes += row->is_buffer || !row->is_other ? 0 : row->bytes;
        }
        others += has_trained ? bytes : 0;
    }
    return others > all / BUFFERS;
}

/* If the trace does not show which lines made parameters, a few bytes without gradients are taken
 * for buffers. If gradients have other sizes than parameters, they tell nothing of what is frozen.
 */
static bool tells_frozen(const struct held_parameters *held, int64_t trained, int64_t matched,
                         bool knows_buffers)
{
    int64_t all = 0, frozen = 0;
    for (size_t i = 0; i < held->count; i++) {
        const struct held_parameter *row = &held->rows[i];
        all += row->bytes;
        frozen += row->is_trained || row->is_buffer ? 0 : row->bytes;
    }
    return matched > trained - trained / 10 && frozen > (knows_buffers ? 0 : all / BUFFERS);
}

/* The model runs modules with as many parameters before the pass. */
static bool runs_frozen(const struct snapshot_reader *reader, const struct held_parameters *held)
{
    size_t frozen = 0;
    unsigned biases;
    for (size_t i = 0; i < held->count; i++)
        frozen += !held->rows[i].is_trained && !held->rows[i].is_buffer;
    return front_sum(&reader->front, frozen, &biases) == frozen;
}

static bool mark_all(struct snapshot_reader *reader, struct held_parameters *held,
                     bool knows_buffers, struct error *err)
{
    int64_t *sizes = calloc(reader->all_made + 1, sizeof(*sizes)), trained = 0, matched = 0;
    if (!sizes)
        return error_out_of_memory(err);
    for (size_t i = 0; i < reader->all_made; i++) {
        sizes[i] = reader->made[i].bytes;
        trained += sizes[i];
    }
    qsort(sizes, reader->all_made, sizeof(*sizes), compare_sizes);
    qsort(held->rows, held->count, sizeof(*held->rows), compare_held);
    bool is_copied = mark_trained(held, sizes, reader->all_made, &matched);
    free(sizes);
    if (!snapshot_order_tensors(reader->model, held, err))
        return false;
    qsort(held->rows, held->count, sizeof(*held->rows), compare_orders);
    /* The copy is a model of its own, such as an average of the weights, unless the pass is
     * preceded by modules that have as many parameters. */
    is_copied = is_copied && !has_others(held) && !runs_frozen(reader, held);
    if (is_copied || !tells_frozen(held, trained, matched, knows_buffers))
        held->count = 0;
    return true;
}

bool snapshot_find_held(struct snapshot_reader *reader, struct held_parameters *held,
                        struct error *err)
{
    uint32_t first_line = 0;
    if (!add_all(reader, held, &first_line, err))
        return false;
    for (size_t i = 0; i < held->count; i++) {
        held->rows[i].is_buffer = held->rows[i].layer > first_line;
        held->rows[i].layer = FROZEN_NOWHERE;
    }
    return held->count == 0 || (snapshot_take_masters(reader, held, err) &&
                                mark_all(reader, held, first_line > 0, err));
}
