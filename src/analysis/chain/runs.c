/* The runs of a pass: successive allocations with the same path. */
#include <stdlib.h>

#include "analysis/chain/loops.h"
#include "analysis/chain/paths.h"
#include "analysis/phase/births.h"

#define FROZEN_LINES 3 /* lines that must run again for frozen code to count as a block */

struct collector {
    struct call_tree *tree;
    const struct timeline *timeline;
    struct symbols *symbols;
    struct chain_paths paths;
};

struct so_far {
    int64_t kept, weight; /* as in struct call_run */
    uint32_t kept_count;
};

static bool add_run(struct call_tree *tree, stack_id path, size_t lifetime, struct so_far so_far,
                    struct error *err)
{
    if (!vec_reserve(tree->runs, tree->run_capacity, tree->run_count + 1, tree->budget, err))
        return false;
    tree->runs[tree->run_count++] = (struct call_run){.path = path,
                                                      .lifetime = (uint32_t)lifetime,
                                                      .kept = so_far.kept,
                                                      .weight = so_far.weight,
                                                      .kept_count = so_far.kept_count,
                                                      .calls = UINT64_MAX};
    return true;
}

/* Adds the runs of the pass from lifetime `i` on. Allocations without a path belong to the run
 * before them. */
static bool collect(struct collector *collector, const struct categories *categories,
                    const struct pass *pass, size_t i, struct error *err)
{
    struct call_tree *tree = collector->tree;
    tree->run_count = 0;
    const struct timeline *timeline = collector->timeline;
    const struct trace *trace = timeline->trace;
    stack_id path;
    struct so_far so_far = {0};
    bool checkpointed;
    for (; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < pass->backward; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (!chain_paths_find(&collector->paths, trace->stack[item], &path, &checkpointed, err))
            return false;
        bool same = tree->run_count > 0 &&
                    (path == STACK_NONE || path == tree->runs[tree->run_count - 1].path);
        if (!same && !add_run(tree, path, i, so_far, err))
            return false;
        tree->has_stacks |= path != STACK_NONE;
        tree->runs[tree->run_count - 1].checkpointed |= checkpointed;
        if (path != STACK_NONE)
            tree->runs[tree->run_count - 1].calls &= collector->paths.calls[trace->stack[item]];
        int64_t size = (int64_t)trace_size(trace, item);
        bool is_kept = pass_keeps(pass, timeline, categories, i);
        so_far.kept += is_kept ? size : 0;
        so_far.kept_count += is_kept;
        so_far.weight += is_kept || checkpointed ? size : 0;
    }
    return add_run(tree, STACK_NONE, i, so_far, err) && --tree->run_count < SIZE_MAX;
}

/* Sets *again if several paths that allocate before lifetime `first` allocate again after it, as
 * those of frozen blocks do. A single path may be that of a module that keeps nothing. */
static bool has_frozen_blocks(const struct call_tree *tree, size_t first, bool *again,
                              struct error *err)
{
    size_t bytes = symbols_stack_count(tree->symbols), count = 0;
    if (!budget_take(tree->budget, bytes, err))
        return false;
    uint8_t *seen = calloc(bytes, 1);
    for (size_t i = 0; seen && i < tree->run_count; i++) {
        const struct call_run *run = &tree->runs[i];
        if (run->lifetime < first) {
            seen[run->path] = 1;
        } else {
            count += seen[run->path];
            seen[run->path] = 0;
        }
    }
    *again = count >= FROZEN_LINES;
    free(seen);
    budget_give(tree->budget, bytes);
    return seen || error_out_of_memory(err);
}

/* Finds the caller of the outermost forward, in the first stack of the pass that has a forward. */
static bool find_forward(struct collector *collector, const struct pass *pass, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    size_t i = births_from(timeline, pass->first);
    for (; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < pass->backward; i++) {
        stack_id id = timeline->trace->stack[timeline->lifetimes[i].alloc], path;
        bool checkpointed;
        if (!chain_paths_find(&collector->paths, id, &path, &checkpointed, err))
            return false;
        if (collector->paths.knows_skipped)
            break;
    }
    chain_paths_forget(&collector->paths);
    return true;
}

/* The caller of the outermost forward, and that forward. */
struct outermost {
    frame_id caller, forward; /* the caller is NO_FRAME if there is none */
};

static bool same_function(const struct symbols *symbols, frame_id a, frame_id b)
{
    return call_same_function(symbols_frame_at(symbols, a), symbols_frame_at(symbols, b));
}

/* Sets *any if a lifetime begins in a forward, and *found to the outermost one. */
static bool find_outermost(struct collector *collector, size_t lifetime, struct outermost *found,
                           bool *any, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    const frame_id *frames;
    struct path_frames counts;
    stack_id id = timeline->trace->stack[timeline->lifetimes[lifetime].alloc];
    if (!chain_paths_filter(&collector->paths, id, &counts, err))
        return false;
    *any = counts.forward != SIZE_MAX;
    if (*any) {
        frames = collector->paths.frames;
        found->caller = counts.forward > 0 ? frames[counts.forward - 1] : NO_FRAME;
        found->forward = frames[counts.forward];
    }
    return true;
}

static bool is_inside(struct collector *collector, size_t lifetime, const struct outermost *model,
                      bool *inside, struct error *err)
{
    struct outermost here;
    if (!find_outermost(collector, lifetime, &here, inside, err))
        return false;
    *inside = *inside && here.caller == model->caller &&
              same_function(collector->symbols, here.forward, model->forward);
    return true;
}

/* The number of frames, from the outermost on, whose calls contain both of two successive
 * allocations with these paths. Where the paths differ, they are in the same call of a function if
 * that goes on to a later line; if it goes back to an earlier line, it was called again. */
static size_t same_calls(const struct symbols *symbols, stack_id earlier, stack_id later)
{
    struct stack a = symbols_stack_at(symbols, earlier), b = symbols_stack_at(symbols, later);
    size_t k = 0;
    if (earlier == later)
        return CALL_MOST_LEVELS;
    while (k < a.count && k < b.count && a.frames[k] == b.frames[k])
        k++;
    if (k < a.count && k < b.count && same_function(symbols, a.frames[k], b.frames[k]) &&
        symbols_frame_at(symbols, a.frames[k]).line < symbols_frame_at(symbols, b.frames[k]).line)
        return k;
    return k > 0 ? k - 1 : 0;
}

/* Notes that an allocation with this path is in the calls of the first `levels` frames of the first
 * run. */
static void note_line(struct call_tree *tree, stack_id path, size_t levels)
{
    struct stack frames = symbols_stack_at(tree->symbols, path);
    for (size_t k = 0; k < CALL_MOST_LEVELS && k <= levels && k < frames.count; k++)
        tree->first_line[k] = frames.frames[k];
}

/* Notes the line just before the first run where its path leaves that of the first run. */
static void note_line_before(struct call_tree *tree, stack_id path)
{
    struct stack a = symbols_stack_at(tree->symbols, path);
    struct stack b = symbols_stack_at(tree->symbols, tree->runs[0].path);
    size_t k = 0;
    while (k < a.count && k < b.count && a.frames[k] == b.frames[k])
        k++;
    if (k > 0 && k < a.count && k < b.count && k < CALL_MOST_LEVELS &&
        !same_function(tree->symbols, a.frames[k], b.frames[k]))
        tree->line_before[k] = a.frames[k];
}

/* Sets tree->first_alike, first_line and line_before: looks from the first run back to lifetime
 * `from` for allocations in the same calls. */
static bool find_alike(struct collector *collector, size_t from, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    struct call_tree *tree = collector->tree;
    stack_id later = tree->runs[0].path, path;
    size_t levels = CALL_MOST_LEVELS;
    bool checkpointed;
    for (size_t k = 0; k < CALL_MOST_LEVELS; k++) {
        tree->first_alike[k] = tree->runs[0].lifetime;
        tree->line_before[k] = NO_FRAME;
    }
    note_line(tree, later, CALL_MOST_LEVELS);
    for (size_t i = tree->runs[0].lifetime; i-- > from; later = path) {
        stack_id id = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (!chain_paths_find(&collector->paths, id, &path, &checkpointed, err))
            return false;
        if (later == tree->runs[0].path)
            note_line_before(tree, path);
        size_t same = same_calls(collector->symbols, path, later);
        levels = same < levels ? same : levels;
        for (size_t k = 0; k < levels; k++)
            tree->first_alike[k] = (uint32_t)i;
        note_line(tree, path, levels);
        if (levels == 0)
            break;
    }
    return true;
}

/* Sets tree->first_inside and end_inside: the first allocation of the pass that is in a forward,
 * and all allocations before and after it without a break that are in the same outermost forward.
 */
static bool find_inside(struct collector *collector, const struct pass *pass, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    struct outermost model;
    size_t first = births_from(timeline, pass->first), end;
    bool inside = false;
    for (; first < timeline->lifetime_count && !inside; first += !inside)
        if (timeline->lifetimes[first].alloc >= pass->backward)
            return true;
        else if (!find_outermost(collector, first, &model, &inside, err))
            return false;
    for (end = first; end < timeline->lifetime_count && inside; end += inside)
        if (!is_inside(collector, end, &model, &inside, err))
            return false;
    for (inside = first<end; first> 0 && inside; first -= inside)
        if (!is_inside(collector, first - 1, &model, &inside, err))
            return false;
    collector->tree->first_inside = (uint32_t)first;
    collector->tree->end_inside = (uint32_t)end;
    return true;
}

bool call_tree_build(struct call_tree *tree, const struct timeline *timeline,
                     struct site_table *sites, const struct categories *categories,
                     const struct pass *pass, bool whole, struct error *err)
{
    struct symbols *symbols = site_table_symbols(sites);
    struct budget *budget = timeline->snapshot->budget;
    struct collector collector = {.tree = tree, .timeline = timeline, .symbols = symbols};
    *tree = (struct call_tree){.symbols = symbols, .budget = budget};
    bool ok = chain_paths_create(&collector.paths, sites, budget, err) &&
              find_forward(&collector, pass, err) && find_inside(&collector, pass, err);
    bool any = tree->end_inside > tree->first_inside;
    size_t first = births_from(timeline, pass->first);
    bool is_whole = false;
    if (ok && whole && any && tree->first_inside < first)
        ok = collect(&collector, categories, pass, tree->first_inside, err) &&
             has_frozen_blocks(tree, first, &is_whole, err);
    ok = ok && (is_whole || collect(&collector, categories, pass, first, err)) &&
         (!any || find_alike(&collector, tree->first_inside, err));
    tree->has_forward = collector.paths.knows_skipped;
    tree->callers = collector.paths.callers;
    chain_paths_release(&collector.paths);
    if (ok && call_tree_divide(tree, err))
        return true;
    call_tree_release(tree);
    return false;
}

void call_tree_release(struct call_tree *tree)
{
    vec_free(tree->runs, tree->run_capacity, sizeof(*tree->runs), tree->budget);
    vec_free(tree->nodes, tree->node_capacity, sizeof(*tree->nodes), tree->budget);
    *tree = (struct call_tree){0};
}
