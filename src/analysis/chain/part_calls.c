#include "analysis/chain/part_calls.h"

#include <stdlib.h>

#include "analysis/code/paths.h"
#include "base/buffer.h"

struct writer {
    const struct call_tree *tree;
    const struct module_calls *calls;
    struct symbols *symbols;
    struct buffer text;
    /* Where the previous call was. */
    uint32_t model; /* the number of its model, from 1; 0 if there was no call */
    frame_id caller;
    struct frame forward;
    uint32_t low, high; /* the lines of the model's outermost forward seen so far */
    uint32_t first_run;
    uint32_t last; /* index of the call that was added to the chain last, or CALL_NONE */
};

/* Writes the line that makes a call, "block.py:12", or "model" if the model itself is the container
 * that makes it. */
static void write_line(struct writer *writer, const struct module_call *call)
{
    if (call->line < writer->tree->callers) {
        buffer_puts(&writer->text, "model");
        return;
    }
    struct frame frame =
        symbols_frame_at(writer->symbols, call_frame(writer->tree, call->first_run, call->line));
    struct text file = path_base(symbols_text(writer->symbols, frame.file));
    buffer_add(&writer->text, file.bytes, file.size);
    buffer_printf(&writer->text, ":%u", (unsigned)frame.line);
}

/* Writes "model.py:50 [3/12] > block.py:12": the lines and numbers of the enclosing calls, and the
 * line of the call. */
static void write_path(struct writer *writer, const struct module_call *call)
{
    if (call->around != CALL_NONE) {
        const struct module_call *around = &writer->calls->items[call->around];
        write_path(writer, around);
        if (around->total > 1)
            buffer_printf(&writer->text, " [%u/%u]", (unsigned)around->number,
                          (unsigned)around->total);
        buffer_puts(&writer->text, " > ");
    }
    write_line(writer, call);
}

/* The lifetime that the allocations of a call are counted from: the first one of its run of the
 * model. */
static uint32_t first_of_run(const struct writer *writer, const struct module_call *call)
{
    const struct call_tree *tree = writer->tree;
    if (call->model_run == 0 || writer->calls->model_run_count == 0)
        return tree->first_inside;
    return tree->runs[writer->calls->model_runs[call->model_run].first_run].lifetime;
}

/* The number of allocations that those of a call are counted among, from `begin` on: those of its
 * run of the model or, for a call after it, of all calls up to the next run. */
static uint32_t counted_among(const struct writer *writer, const struct forward_chain *chain,
                              const struct module_call *call, uint32_t begin)
{
    const struct call_tree *tree = writer->tree;
    const struct module_calls *calls = writer->calls;
    uint32_t of_run = chain->allocations, next = call->model_run + 1;
    if (call->model_run > 0)
        of_run = tree->runs[calls->model_runs[call->model_run].end_run].lifetime - begin;
    if (tree->runs[call->end_run].lifetime - begin <= of_run)
        return of_run;
    uint32_t end = next < calls->model_run_count ? calls->model_runs[next].first_run
                                                 : calls->items[calls->outermost - 1].end_run;
    return tree->runs[end].lifetime - begin;
}

/* True if another forward that ran in the previous call, or runs in this one, has a line between
 * the known lines of the outermost forward and the line of `forward`. Then `forward` is another
 * function of the same name, because the lines of other functions do not lie within a function. */
static bool other_lies_between(const struct writer *writer, uint32_t end_run, struct frame forward)
{
    const struct call_tree *tree = writer->tree;
    uint32_t low = forward.line < writer->low ? forward.line : writer->high;
    uint32_t high = forward.line < writer->low ? writer->low : forward.line;
    frame_id id;
    for (uint32_t run = writer->first_run; run < end_run; run++)
        for (size_t k = tree->callers + 1u; (id = call_frame(tree, run, k)) != NO_FRAME; k++) {
            struct frame inner = symbols_frame_at(writer->symbols, id);
            if (inner.file == forward.file && inner.line > low && inner.line < high &&
                call_is_forward(symbols_text(writer->symbols, inner.name)))
                return true;
        }
    return false;
}

static bool is_other_model(const struct writer *writer, const struct module_call *call,
                           frame_id callers, struct frame forward)
{
    return callers != writer->caller || forward.file != writer->forward.file ||
           forward.name != writer->forward.name ||
           other_lies_between(writer, call->end_run, forward);
}

/* The number of the outermost forward that a call is in. It differs from that of the previous call
 * if another line called that forward, or if it is another function. It is 0 in the forward of a
 * container, because one line may call several containers. */
static uint32_t model_of(struct writer *writer, const struct module_call *call)
{
    const struct call_tree *tree = writer->tree;
    while (call->around != CALL_NONE)
        call = &writer->calls->items[call->around];
    if (call->line < tree->callers)
        return 0;
    frame_id callers = tree->callers > 0 ? call_frame(tree, call->first_run, 0) : NO_FRAME;
    frame_id id = call_frame(tree, call->first_run, tree->callers);
    struct frame frame = {0};
    if (id != NO_FRAME)
        frame = symbols_frame_at(writer->symbols, id);
    if (writer->model == 0 || is_other_model(writer, call, callers, frame)) {
        writer->model++;
        writer->low = writer->high = frame.line;
    }
    writer->low = frame.line < writer->low ? frame.line : writer->low;
    writer->high = frame.line > writer->high ? frame.line : writer->high;
    writer->caller = callers;
    writer->forward = frame;
    writer->first_run = call->first_run;
    return writer->model;
}

static bool add_to_chain(struct writer *writer, struct forward_chain *chain,
                         const struct module_call *call, struct error *err)
{
    const struct call_tree *tree = writer->tree;
    uint32_t first = call->first_run == 0 ? tree->first_alike[call->frame]
                                          : tree->runs[call->first_run].lifetime;
    uint32_t begin = first_of_run(writer, call);
    struct chain_call made = {.number = call->number,
                              .total = call->total,
                              .first_allocation = first - begin,
                              .end_allocation = tree->runs[call->end_run].lifetime - begin,
                              .of_allocations = counted_among(writer, chain, call, begin),
                              .run = call->model_run,
                              .runs = (uint32_t)writer->calls->model_run_count,
                              .model = model_of(writer, call),
                              .in_container = call->frame != call->line};
    buffer_clear(&writer->text);
    write_path(writer, call);
    if (writer->text.failed)
        return error_out_of_memory(err);
    return symbols_string(writer->symbols, writer->text.bytes, writer->text.size, &made.line,
                          err) &&
           vec_push(chain->calls, chain->call_count, chain->call_capacity, chain->budget, err,
                    made);
}

/* True if call i of the calls first..end-1 comes right before or after another call from its line,
 * as in a torch.nn.Sequential. Then it makes the input of that call, or takes its result, so it
 * belongs to the part even if it keeps nothing. */
static bool is_in_row(const struct module_calls *calls, uint32_t i, uint32_t first, uint32_t end)
{
    return (i > first && calls->items[i].same_line == i - 1) ||
           (i + 1 < end && calls->items[i + 1].same_line == i);
}

/* True if call i comes right after the call added last, from the same line: it takes its result, as
 * in a torch.nn.Sequential. The last linear layer of an MLP without dropout keeps nothing itself,
 * but a checkpoint that ends before it stores its input, which is the largest result of the MLP. */
static bool continues_row(const struct writer *writer, uint32_t i)
{
    const struct module_call *items = writer->calls->items;
    return i > 0 && writer->last == i - 1 && items[i].same_line == i - 1 &&
           items[i - 1].end_run == items[i].first_run;
}

/* Sets the calls of a part to the outermost calls within its node, if they keep all that it keeps.
 * A part that keeps nothing has only calls that continue the row of the part before it. */
static bool set_part(struct writer *writer, struct forward_chain *chain, struct chain_part *part,
                     const struct call_node *node, struct error *err)
{
    const struct call_tree *tree = writer->tree;
    int64_t kept = 0, whole = call_kept_in(tree, node->first_run, node->end_run);
    uint32_t first, end;
    part->first_call = part->end_call = (uint32_t)chain->call_count;
    part->keeps = whole > 0;
    module_calls_within(writer->calls, node->first_run, node->end_run, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        const struct module_call *call = &writer->calls->items[i];
        int64_t own = call_kept_in(tree, call->first_run, call->end_run);
        kept += own;
        if (whole > 0 ? own == 0 && !is_in_row(writer->calls, i, first, end)
                      : !continues_row(writer, i))
            continue;
        if (!add_to_chain(writer, chain, call, err))
            return false;
        writer->last = i;
    }
    if (kept == whole) {
        part->end_call = (uint32_t)chain->call_count;
    } else {
        chain->call_count = part->first_call;
        writer->last = CALL_NONE;
    }
    return true;
}

bool chain_set_calls(struct forward_chain *chain, const struct call_tree *tree,
                     const struct cut *cut, const struct module_calls *calls,
                     struct symbols *symbols, struct error *err)
{
    struct writer writer = {
        .tree = tree, .calls = calls, .symbols = symbols, .text = BUFFER_INIT, .last = CALL_NONE};
    bool ok = true;
    chain->allocations = tree->end_inside - tree->first_inside;
    chain->calls_in_loop = calls->in_loop;
    for (size_t i = 0; ok && i < cut->count; i++)
        ok = set_part(&writer, chain, &chain->parts[i], &tree->nodes[cut->nodes[i]], err);
    buffer_release(&writer.text);
    return ok;
}

bool chain_is_modules(const struct forward_chain *chain, size_t element)
{
    const struct chain_element *it = &chain->elements[element];
    bool any = false;
    for (uint32_t part = it->first_part; part < it->end_part; part++) {
        bool calls = chain->parts[part].end_call > chain->parts[part].first_call;
        if (!calls && chain->parts[part].keeps)
            return false;
        any |= calls;
    }
    return any;
}

const struct chain_call *chain_first_call(const struct forward_chain *chain, size_t element)
{
    uint32_t part = chain->elements[element].first_part;
    while (chain->parts[part].end_call == chain->parts[part].first_call)
        part++;
    return &chain->calls[chain->parts[part].first_call];
}

const struct chain_call *chain_last_call(const struct forward_chain *chain, size_t element)
{
    uint32_t part = chain->elements[element].end_part - 1;
    while (chain->parts[part].end_call == chain->parts[part].first_call)
        part--;
    return &chain->calls[chain->parts[part].end_call - 1];
}

bool chain_can_join(const struct forward_chain *chain, size_t i)
{
    if (i + 1 >= chain->count || !chain_is_modules(chain, i) || !chain_is_modules(chain, i + 1) ||
        chain->elements[i].held_bytes > 0 || chain->elements[i].branches)
        return false;
    const struct chain_call *last = chain_last_call(chain, i),
                            *next = chain_first_call(chain, i + 1);
    return last->line == next->line && last->number + 1 == next->number && last->run == next->run &&
           last->end_allocation == next->first_allocation;
}
