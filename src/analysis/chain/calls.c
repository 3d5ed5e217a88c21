#include "analysis/chain/calls.h"

#include <stdlib.h>

#include "analysis/code/paths.h"
#include "base/buffer.h"

#define NEAR 8 /* lines that are examined on either side of a loop */
#define NONE UINT32_MAX

#define MOST_BACK 4096 /* calls that are looked through for one of the same line */

/* A call of a module. Calls come behind those around them; those in one are consecutive. */
struct call {
    uint32_t first_run, end_run;
    uint32_t first_child, end_child;
    uint32_t around;        /* the call that it is in, or NONE */
    uint32_t same_line;     /* the call before it from that line, or NONE */
    uint32_t number, total; /* among the calls of that line in `around` */
    uint16_t frame;         /* of the path, which calls it */
    uint16_t line;          /* the frame of the line it counts for: outside of containers */
};

struct caller {
    const struct call_tree *tree;
    struct symbols *symbols;
    struct budget *budget;
    uint64_t *begins; /* by run: bit k: an iteration begins in which frame k calls a module anew */
    size_t begins_capacity;
    struct call *calls;
    size_t count, capacity;
    uint32_t outermost; /* calls that are in no other: the first ones */
    struct buffer text;
};

static bool same_function(struct frame a, struct frame b)
{
    return a.file == b.file && a.name == b.name;
}

bool call_loop_is_inside(const struct call_tree *tree, const struct call_node *loop)
{
    const struct call_node *nodes = tree->nodes, *parent = &nodes[loop->parent];
    struct frame head =
        symbols_frame_at(tree->symbols, call_frame(tree, loop->first_run, loop->level));
    uint32_t at = (uint32_t)(loop - nodes);
    uint32_t first = at - parent->first_child < NEAR ? parent->first_child : at - NEAR;
    uint32_t end = parent->end_child - at < NEAR ? parent->end_child : at + NEAR;
    for (uint32_t i = first; i < end; i++) {
        frame_id frame = call_frame(tree, nodes[i].first_run, loop->level);
        if (i != at && frame != NO_FRAME &&
            same_function(symbols_frame_at(tree->symbols, frame), head))
            return true;
    }
    return loop->level == 0;
}

/* The frame that calls a module anew in each iteration, or NONE. Between it and the loop's function
 * may be others that only pass the call of its forward on. */
static uint32_t calling_frame(const struct call_tree *tree, const struct call_node *iteration)
{
    uint32_t run = iteration->first_run, level = iteration->level;
    frame_id id = call_frame(tree, run, level);
    if (level == 0 || id == NO_FRAME || call_loop_is_inside(tree, &tree->nodes[iteration->parent]))
        return NONE;
    if (call_is_module(tree, run, level - 1))
        return level - 1;
    struct frame frame = symbols_frame_at(tree->symbols, id);
    if (call_is_forward(symbols_text(tree->symbols, frame.name)))
        while (level-- > 0)
            if (call_is_module(tree, run, level))
                return level;
    return NONE;
}

static bool find_begins(struct caller *caller, struct error *err)
{
    const struct call_tree *tree = caller->tree;
    if (!vec_reserve(caller->begins, caller->begins_capacity, tree->run_count + 1, caller->budget,
                     err))
        return false;
    for (size_t i = 0; i <= tree->run_count; i++)
        caller->begins[i] = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].kind != CALL_ITERATION)
            continue;
        uint32_t frame = calling_frame(tree, &tree->nodes[i]);
        if (frame != NONE)
            caller->begins[tree->nodes[i].first_run] |= UINT64_C(1) << frame;
    }
    return true;
}

/* The loop of torch.nn.Sequential. */
static bool is_container(const struct call_tree *tree, uint32_t run, size_t level)
{
    frame_id id = call_frame(tree, run, level);
    if (id == NO_FRAME)
        return false;
    struct frame frame = symbols_frame_at(tree->symbols, id);
    struct text file = symbols_text(tree->symbols, frame.file);
    return text_ends(file, "torch/nn/modules/container.py") ||
           text_ends(file, "torch\\nn\\modules\\container.py");
}

/* The first frame from `from` on that calls a module other than a container, or NONE. */
static uint32_t next_frame(const struct call_tree *tree, uint32_t run, uint32_t from)
{
    uint64_t calls = from < 64 ? tree->runs[run].calls >> from << from : 0;
    for (; calls != 0; calls &= calls - 1) {
        uint32_t frame = (uint32_t)__builtin_ctzll(calls);
        if (call_frame(tree, run, frame) == NO_FRAME)
            return NONE;
        if (!is_container(tree, run, frame + 1u))
            return frame;
    }
    return NONE;
}

/* The frame that a call counts for: what containers call counts for who called the container. If
 * the model is one, that is its caller. */
static uint32_t line_of(const struct call_tree *tree, uint32_t run, uint32_t frame)
{
    while (frame > 0 && is_container(tree, run, frame))
        frame--;
    return frame;
}

/* Two runs have the same frames from..to. */
static bool same_frames(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t from,
                        uint32_t to)
{
    for (uint32_t k = from; k <= to; k++)
        if (call_frame(tree, a, k) != call_frame(tree, b, k))
            return false;
    return true;
}

static bool calls_other(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t level)
{
    frame_id x = call_frame(tree, a, level), y = call_frame(tree, b, level);
    if (x == NO_FRAME || y == NO_FRAME)
        return x != y;
    return !same_function(symbols_frame_at(tree->symbols, x), symbols_frame_at(tree->symbols, y));
}

/* The last of the calls from..end-1 that the same line made, or NONE. `from`: the first frame that
 * is not of the call around them. */
static uint32_t last_of_line(const struct caller *caller, size_t from, uint32_t run,
                             uint32_t first_frame, uint32_t line)
{
    if (caller->count - from > MOST_BACK)
        from = caller->count - MOST_BACK;
    for (size_t i = caller->count; i-- > from;)
        if (caller->calls[i].line == line &&
            same_frames(caller->tree, caller->calls[i].first_run, run, first_frame, line))
            return (uint32_t)i;
    return NONE;
}

/* Adds the calls in runs first..end-1 that are in the call `around`. */
static bool add_calls(struct caller *caller, uint32_t first, uint32_t end, uint32_t around,
                      uint32_t first_frame, struct error *err)
{
    const struct call_tree *tree = caller->tree;
    size_t from = caller->count;
    uint32_t open = NONE; /* the call of the run before */
    for (uint32_t run = first; run < end; run++) {
        uint32_t frame = next_frame(tree, run, first_frame);
        if (frame == NONE) {
            open = NONE;
            continue;
        }
        struct call *last = open == NONE ? NULL : &caller->calls[open];
        if (last && last->frame == frame && same_frames(tree, run - 1, run, first_frame, frame) &&
            !calls_other(tree, run - 1, run, frame + 1) && !(caller->begins[run] >> frame & 1)) {
            last->end_run = run + 1;
            continue;
        }
        uint32_t line = line_of(tree, run, frame);
        uint32_t same = last_of_line(caller, from, run, first_frame, line);
        struct call call = {.first_run = run,
                            .end_run = run + 1,
                            .around = around,
                            .same_line = same,
                            .number = same == NONE ? 0 : caller->calls[same].number + 1,
                            .frame = (uint16_t)frame,
                            .line = (uint16_t)line};
        open = (uint32_t)caller->count;
        if (!vec_push(caller->calls, caller->count, caller->capacity, caller->budget, err, call))
            return false;
    }
    for (size_t i = caller->count; i-- > from;) {
        struct call *call = &caller->calls[i];
        call->total = call->total > 0 ? call->total : call->number + 1;
        if (call->same_line != NONE)
            caller->calls[call->same_line].total = call->total;
    }
    return true;
}

static bool find_calls(struct caller *caller, struct error *err)
{
    const struct call_tree *tree = caller->tree;
    if (!find_begins(caller, err) ||
        !add_calls(caller, 0, (uint32_t)tree->run_count, NONE, tree->callers, err))
        return false;
    caller->outermost = (uint32_t)caller->count;
    for (size_t i = 0; i < caller->count; i++) {
        struct call call = caller->calls[i];
        caller->calls[i].first_child = (uint32_t)caller->count;
        if (!add_calls(caller, call.first_run, call.end_run, (uint32_t)i, call.frame + 1u, err))
            return false;
        caller->calls[i].end_child = (uint32_t)caller->count;
    }
    return true;
}

/* "block.py:12", for the line that makes a call; "model" for the model's own container. */
static void write_line(struct caller *caller, const struct call *call)
{
    if (call->line < caller->tree->callers) {
        buffer_puts(&caller->text, "model");
        return;
    }
    struct frame frame =
        symbols_frame_at(caller->symbols, call_frame(caller->tree, call->first_run, call->line));
    struct text file = path_base(symbols_text(caller->symbols, frame.file));
    buffer_add(&caller->text, file.bytes, file.size);
    buffer_printf(&caller->text, ":%u", (unsigned)frame.line);
}

/* "model.py:50 [3/12] > block.py:12", with the numbers of the calls around it. */
static void write_path(struct caller *caller, const struct call *call)
{
    if (call->around != NONE) {
        const struct call *around = &caller->calls[call->around];
        write_path(caller, around);
        if (around->total > 1)
            buffer_printf(&caller->text, " [%u/%u]", (unsigned)around->number,
                          (unsigned)around->total);
        buffer_puts(&caller->text, " > ");
    }
    write_line(caller, call);
}

static bool add_to_chain(struct caller *caller, struct forward_chain *chain,
                         const struct call *call, struct error *err)
{
    const struct call_tree *tree = caller->tree;
    uint32_t first =
        call->first_run == 0 ? tree->first_alike : tree->runs[call->first_run].lifetime;
    struct chain_call made = {.number = call->number,
                              .total = call->total,
                              .first_allocation = first - tree->first_inside,
                              .end_allocation =
                                  tree->runs[call->end_run].lifetime - tree->first_inside};
    buffer_clear(&caller->text);
    write_path(caller, call);
    if (caller->text.failed)
        return error_out_of_memory(err);
    return symbols_string(caller->symbols, caller->text.bytes, caller->text.size, &made.line,
                          err) &&
           vec_push(chain->calls, chain->call_count, chain->call_capacity, chain->budget, err,
                    made);
}

static int64_t kept_in(const struct call_tree *tree, uint32_t first, uint32_t end)
{
    return tree->runs[end].kept - tree->runs[first].kept;
}

/* The first of the calls first..end-1 that ends behind a run, or `end`. */
static uint32_t first_behind(const struct caller *caller, uint32_t first, uint32_t end,
                             uint32_t run)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (caller->calls[middle].end_run <= run)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Gives a part the outermost calls that lie in its node, if they keep all that it keeps. */
static bool set_part(struct caller *caller, struct forward_chain *chain, struct chain_part *part,
                     const struct call_node *node, struct error *err)
{
    const struct call_tree *tree = caller->tree;
    int64_t kept = 0, whole = kept_in(tree, node->first_run, node->end_run);
    uint32_t i = 0, end = caller->outermost;
    part->first_call = part->end_call = (uint32_t)chain->call_count;
    part->keeps = whole > 0;
    for (;;) {
        i = first_behind(caller, i, end, node->first_run);
        if (i == end || (caller->calls[i].first_run >= node->first_run &&
                         caller->calls[i].end_run <= node->end_run))
            break;
        end = caller->calls[i].end_child;
        i = caller->calls[i].first_child;
    }
    for (; i < end && caller->calls[i].end_run <= node->end_run; i++) {
        const struct call *call = &caller->calls[i];
        int64_t own = kept_in(tree, call->first_run, call->end_run);
        kept += own;
        if (own > 0 && !add_to_chain(caller, chain, call, err))
            return false;
    }
    if (kept == whole)
        part->end_call = (uint32_t)chain->call_count;
    else
        chain->call_count = part->first_call;
    return true;
}

bool chain_set_calls(struct forward_chain *chain, const struct call_tree *tree,
                     const struct cut *cut, struct symbols *symbols, struct error *err)
{
    struct caller caller = {
        .tree = tree, .symbols = symbols, .budget = chain->budget, .text = BUFFER_INIT};
    bool ok = find_calls(&caller, err);
    chain->allocations = tree->end_inside - tree->first_inside;
    for (size_t i = 0; ok && i < cut->count; i++)
        ok = set_part(&caller, chain, &chain->parts[i], &tree->nodes[cut->nodes[i]], err);
    buffer_release(&caller.text);
    vec_free(caller.calls, caller.capacity, sizeof(*caller.calls), caller.budget);
    vec_free(caller.begins, caller.begins_capacity, sizeof(*caller.begins), caller.budget);
    return ok;
}
