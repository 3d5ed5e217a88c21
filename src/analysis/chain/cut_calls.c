#include <stdlib.h>

#include "analysis/chain/part_calls.h"

/* True if calls i..end-1 may not form a chain. Other code may allocate between two of them, such as
 * the addition of a skip connection. Or different lines make two of them, so that the second need
 * not take the result of the first. Successive calls from one line are taken to form a chain: they
 * are the modules of a torch.nn.Sequential, or nested calls. */
static bool may_be_no_chain(const struct module_calls *calls, uint32_t i, uint32_t end)
{
    for (; i + 1 < end; i++)
        if (calls->items[i].end_run < calls->items[i + 1].first_run ||
            calls->items[i + 1].same_line != i)
            return true;
    return false;
}

/* True if both module calls and other code keep memory in a node, or if its module calls may not
 * form a chain. False if the node ran in a checkpoint, because the other code is that of the
 * checkpoint. */
static bool is_mixed(const struct call_tree *tree, const struct module_calls *calls,
                     const struct call_node *node)
{
    int64_t kept = 0;
    uint32_t first, end;
    for (uint32_t run = node->first_run; run < node->end_run; run++)
        if (tree->runs[run].checkpointed)
            return false;
    module_calls_within(calls, node->first_run, node->end_run, &first, &end);
    for (uint32_t i = first; i < end; i++)
        kept += call_kept_in(tree, calls->items[i].first_run, calls->items[i].end_run);
    return kept > 0 && (kept < call_kept(tree, node) || may_be_no_chain(calls, first, end));
}

/* The number of frames that all runs from..to-1 share. */
static size_t shared_frames(const struct call_tree *tree, uint32_t from, uint32_t to)
{
    size_t level = symbols_stack_at(tree->symbols, tree->runs[from].path).count;
    for (uint32_t run = from + 1; run < to; run++)
        for (size_t k = 0; k < level; k++)
            if (call_frame(tree, run, k) != call_frame(tree, from, k))
                level = k;
    return level;
}

struct divided {
    struct cut cut;
    struct call_tree *tree;
};

static bool add_node(struct divided *divided, uint32_t node, bool joined, struct error *err)
{
    struct cut *cut = &divided->cut;
    size_t count = cut->count;
    if (!vec_reserve(cut->joined, cut->joined_capacity, count + 1, cut->budget, err) ||
        !vec_push(cut->nodes, cut->count, cut->nodes_capacity, cut->budget, err, node))
        return false;
    cut->joined[count] = joined;
    return true;
}

/* Adds a new leaf to the tree for the runs from..to-1, which have `level` frames in common. */
static bool add_runs(struct divided *divided, uint32_t parent, uint32_t from, uint32_t to,
                     size_t level, struct error *err)
{
    struct call_tree *tree = divided->tree;
    struct call_node node = {.parent = parent,
                             .first_child = (uint32_t)tree->node_count,
                             .end_child = (uint32_t)tree->node_count,
                             .first_run = from,
                             .end_run = to,
                             .level = (uint16_t)level,
                             .kind = CALL_LINE};
    return from == to ||
           (vec_push(tree->nodes, tree->node_count, tree->node_capacity, tree->budget, err, node) &&
            add_node(divided, (uint32_t)tree->node_count - 1, false, err));
}

static bool add_divided(struct divided *divided, const struct module_calls *calls, uint32_t node,
                        struct error *err)
{
    const struct call_tree *tree = divided->tree;
    uint32_t from = tree->nodes[node].first_run, to = tree->nodes[node].end_run, i, end;
    module_calls_within(calls, from, to, &i, &end);
    for (; i < end; i++) {
        const struct module_call *call = &calls->items[i];
        if ((from < call->first_run &&
             !add_runs(divided, node, from, call->first_run,
                       shared_frames(tree, from, call->first_run), err)) ||
            !add_runs(divided, node, call->first_run, call->end_run, call->frame + 1u, err))
            return false;
        from = call->end_run;
    }
    return from == to || add_runs(divided, node, from, to, shared_frames(tree, from, to), err);
}

bool cut_at_calls(struct cut *cut, struct call_tree *tree, const struct module_calls *calls,
                  size_t most, struct error *err)
{
    struct divided divided = {
        .cut = {.budget = cut->budget, .matched = cut->matched, .by_depth = cut->by_depth},
        .tree = tree};
    bool ok = true;
    for (size_t i = 0; ok && i < cut->count && divided.cut.count <= most; i++)
        ok = is_mixed(tree, calls, &tree->nodes[cut->nodes[i]])
                 ? add_divided(&divided, calls, cut->nodes[i], err)
                 : add_node(&divided, cut->nodes[i], cut->joined[i], err);
    bool is_used = ok && divided.cut.count <= most;
    struct cut unused = is_used ? *cut : divided.cut;
    if (is_used)
        *cut = divided.cut;
    cut_release(&unused);
    return ok;
}
