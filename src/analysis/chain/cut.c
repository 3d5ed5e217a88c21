#include "analysis/chain/cut.h"

#include <stdlib.h>

#include "analysis/chain/lists.h"
#include "analysis/code/labels.h"
#include "analysis/code/paths.h"
#include "analysis/code/site_pattern.h"

enum { MATCH_UNKNOWN, MATCH_NO, MATCH_YES };

struct cutter {
    const struct call_tree *tree;
    const struct chain_options *options;
    struct cut *cut;
    int64_t *looped;   /* by node: bytes of activations in loops at or below it */
    int64_t *nested;   /* the same, counting only loops whose iterations are alike */
    uint8_t *keeping;  /* by node: number of iterations that keep something, at most 2 */
    uint8_t *places;   /* by node, with CHAIN_LOOPS only: see lists.h */
    uint8_t *matching; /* by frame, with CHAIN_PATTERN only: MATCH_UNKNOWN, ... */
    struct buffer label;
    uint32_t *stack; /* nodes to visit, the next one last */
    size_t count, capacity;
    size_t outer; /* CHAIN_DEPTH: number of levels outside of the outermost forward */
    bool outside; /* CHAIN_PATTERN: the previous part did not match */
};

/* Adds the base name of the file, the line and the function: "model.py:253 forward". */
static void add_line_label(const struct symbols *symbols, frame_id id, struct buffer *label)
{
    struct frame frame = symbols_frame_at(symbols, id);
    struct text file = symbols_text(symbols, frame.file);
    label_add_file(label, file, path_base(file).size);
    buffer_printf(label, ":%u ", (unsigned)frame.line);
    label_add_name(label, symbols_text(symbols, frame.name));
}

/* The bytes for which a node counts: see CHAIN_LOOPS. */
static int64_t weight_of(const struct cutter *cutter, const struct call_node *node)
{
    return (cutter->options->level == CHAIN_LOOPS ? call_weight : call_kept)(cutter->tree, node);
}

/* True if at least two iterations of a node keep something. */
static bool is_loop(const struct cutter *cutter, uint32_t index)
{
    return cutter->keeping[index] == 2;
}

/* True if no iteration that keeps something keeps twice as much as another such iteration. Lines
 * within a block may repeat too, but their iterations do different things. */
static bool is_alike(const struct cutter *cutter, const struct call_node *loop)
{
    const struct call_tree *tree = cutter->tree;
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t child = loop->first_child; child < loop->end_child; child++) {
        int64_t kept = weight_of(cutter, &tree->nodes[child]);
        most = kept > most ? kept : most;
        least = kept > 0 && kept < least ? kept : least;
    }
    return most / 2 < least;
}

/* Sets keeping, looped and nested of all nodes. Visits children before their parents. */
static void sum_loops(const struct cutter *cutter)
{
    const struct call_tree *tree = cutter->tree;
    for (size_t i = 1; i < tree->node_count; i++) {
        const struct call_node *node = &tree->nodes[i];
        if (node->kind == CALL_ITERATION && weight_of(cutter, node) > 0 &&
            cutter->keeping[node->parent] < 2)
            cutter->keeping[node->parent]++;
    }
    for (uint32_t i = (uint32_t)tree->node_count; i-- > 0;) {
        const struct call_node *node = &tree->nodes[i];
        if (is_loop(cutter, i)) {
            cutter->looped[i] = weight_of(cutter, node);
            if (is_alike(cutter, node))
                cutter->nested[i] = weight_of(cutter, node);
        }
        if (i > 0 && !is_loop(cutter, node->parent))
            cutter->looped[node->parent] += cutter->looped[i];
        if (i > 0)
            cutter->nested[node->parent] += cutter->nested[i];
    }
}

/* Bytes of the loops within a loop's iterations, counting only inner loops whose own iterations are
 * alike. */
static int64_t looped_within(const struct cutter *cutter, const struct call_node *loop)
{
    int64_t sum = 0;
    for (uint32_t child = loop->first_child; child < loop->end_child; child++)
        sum += cutter->nested[child];
    return sum;
}

/* True if one iteration keeps more than half of all activations, and has loops itself. That happens
 * if a torch.nn.Sequential has all stages of the model as one module and something small as
 * another. Checkpoints between such iterations save almost nothing. */
static bool one_dominates(const struct cutter *cutter, const struct call_node *loop)
{
    const struct call_tree *tree = cutter->tree;
    int64_t all = weight_of(cutter, &tree->nodes[0]);
    for (uint32_t child = loop->first_child; child < loop->end_child; child++) {
        int64_t kept = weight_of(cutter, &tree->nodes[child]);
        if (kept > all / 2 && cutter->looped[child] >= kept / 2)
            return true;
    }
    return false;
}

/* The loop that keeps at least three quarters of the activations of an iteration, or NULL. */
static const struct call_node *main_loop(const struct cutter *cutter, uint32_t iteration)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[iteration];
    int64_t kept = weight_of(cutter, node);
    for (uint32_t next = iteration; !is_loop(cutter, next); node = &tree->nodes[next]) {
        for (uint32_t child = next = node->first_child; child < node->end_child; child++)
            if (weight_of(cutter, &tree->nodes[child]) > weight_of(cutter, &tree->nodes[next]))
                next = child;
        if (node->first_child == node->end_child ||
            weight_of(cutter, &tree->nodes[next]) < kept - kept / 4)
            return NULL;
    }
    return node;
}

/* True if what looks like one iteration is several that did not reach the loop's later lines, such
 * as blocks without dropout before blocks with it. Then each iteration of its inner loop keeps
 * about as much as the other iterations of this loop. */
static bool is_several(const struct cutter *cutter, const struct call_node *loop,
                       uint32_t iteration)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *inner = main_loop(cutter, iteration);
    for (uint32_t i = loop->first_child; inner && i < loop->end_child; i++) {
        int64_t kept = weight_of(cutter, &tree->nodes[i]);
        for (uint32_t k = inner->first_child; i != iteration && k < inner->end_child; k++)
            if (weight_of(cutter, &tree->nodes[k]) < kept - kept / 4)
                return false;
    }
    return inner && loop->end_child - loop->first_child > 1;
}

static bool push_children(struct cutter *cutter, const struct call_node *node, struct error *err)
{
    size_t count = node->end_child - node->first_child;
    if (!vec_grow((void **)&cutter->stack, &cutter->capacity, cutter->count + count,
                  sizeof(uint32_t), cutter->tree->budget, err))
        return false;
    for (uint32_t child = node->end_child; child-- > node->first_child;)
        cutter->stack[cutter->count++] = child;
    return true;
}

static bool add_part(struct cutter *cutter, uint32_t node, bool joined, struct error *err)
{
    struct cut *cut = cutter->cut;
    if (!vec_grow((void **)&cut->nodes, &cut->nodes_capacity, cut->count + 1, sizeof(uint32_t),
                  cut->budget, err) ||
        !vec_grow((void **)&cut->joined, &cut->joined_capacity, cut->count + 1, sizeof(bool),
                  cut->budget, err))
        return false;
    cut->nodes[cut->count] = node;
    cut->joined[cut->count] = joined && cut->count > 0;
    cut->count++;
    return true;
}

/* Adds a line as a part. If the line contains nothing but a loop, adds the loop's iterations
 * instead.
 */
static bool add_line(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[index];
    cutter->outside = false;
    if (node->end_child - node->first_child != 1 || !is_loop(cutter, node->first_child))
        return add_part(cutter, index, false, err);
    const struct call_node *loop = &tree->nodes[node->first_child];
    for (uint32_t child = loop->first_child; child < loop->end_child; child++)
        if (!add_part(cutter, child, false, err))
            return false;
    return true;
}

static bool is_leaf(const struct call_node *node)
{
    return node->first_child == node->end_child;
}

static bool matches(struct cutter *cutter, const struct call_node *node)
{
    if (node->kind != CALL_LINE || node->level == 0)
        return false;
    frame_id frame = call_frame(cutter->tree, node->first_run, node->level - 1u);
    uint8_t *known = &cutter->matching[frame];
    if (*known == MATCH_UNKNOWN) {
        struct buffer *label = &cutter->label;
        buffer_clear(label);
        add_line_label(cutter->tree->symbols, frame, label);
        bool fits = !label->failed && pattern_matches(cutter->options->pattern,
                                                      (struct text){label->bytes, label->size});
        *known = fits ? MATCH_YES : MATCH_NO;
    }
    return *known == MATCH_YES;
}

static bool visit_pattern(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_node *node = &cutter->tree->nodes[index];
    if (matches(cutter, node)) {
        cutter->cut->matched = true;
        return add_line(cutter, index, err);
    }
    if (!is_leaf(node))
        return push_children(cutter, node, err);
    bool joined = cutter->outside;
    cutter->outside = true;
    return add_part(cutter, index, joined, err);
}

static bool add_iterations(struct cutter *cutter, const struct call_node *loop, struct error *err)
{
    for (uint32_t child = loop->first_child; child < loop->end_child; child++) {
        const struct call_node *inner =
            is_several(cutter, loop, child) ? main_loop(cutter, child) : NULL;
        if (inner ? !add_iterations(cutter, inner, err) : !add_part(cutter, child, false, err))
            return false;
    }
    return true;
}

static bool visit_blocks(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[index];
    int64_t kept = weight_of(cutter, node), looped = cutter->looped[index];
    if (is_loop(cutter, index)) {
        if (looped_within(cutter, node) >= kept - kept / 4 || one_dominates(cutter, node))
            return push_children(cutter, node, err);
        return add_iterations(cutter, node, err);
    }
    if (looped > 0 && looped >= kept / 2)
        return push_children(cutter, node, err);
    return add_part(cutter, index, false, err);
}

/* True if an iteration is not a single module but runs the loop of another Sequential. That loop is
 * in one of its lines or, if the stacks do not tell the two loops apart, among its lines. */
static bool runs_list(const struct cutter *cutter, const struct call_node *iteration)
{
    const struct call_tree *tree = cutter->tree;
    for (uint32_t i = iteration->first_child; i < iteration->end_child; i++) {
        const struct call_node *child = &tree->nodes[i];
        bool is_line = child->kind == CALL_LINE && cutter->places[i] != LIST_NONE &&
                       call_is_list(tree, child->first_run, child->level - 1u);
        if (is_line || (child->kind == CALL_LOOP && cutter->places[i] == LIST_LOOP))
            return true;
    }
    return false;
}

/* Makes each module that a Sequential calls a part, however little it keeps. */
static bool visit_lists(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[index], *loop = &tree->nodes[node->parent];
    bool is_module = node->kind == CALL_ITERATION && cutter->places[node->parent] == LIST_LOOP;
    if (is_module && !runs_list(cutter, node)) {
        const struct call_node *inner =
            is_several(cutter, loop, index) ? main_loop(cutter, index) : NULL;
        return inner ? add_iterations(cutter, inner, err) : add_part(cutter, index, false, err);
    }
    bool leads = cutter->places[index] == LIST_WITHIN || cutter->places[index] == LIST_LOOP;
    return leads ? push_children(cutter, node, err) : visit_blocks(cutter, index, err);
}

static bool visit(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_node *node = &cutter->tree->nodes[index];
    switch (cutter->options->level) {
    case CHAIN_PATTERN:
        return visit_pattern(cutter, index, err);
    case CHAIN_DEPTH:
        if (is_leaf(node) ||
            (node->kind == CALL_LINE && node->level >= cutter->options->depth + cutter->outer))
            return add_line(cutter, index, err);
        return push_children(cutter, node, err);
    case CHAIN_LINES:
        return is_leaf(node) ? add_part(cutter, index, false, err)
                             : push_children(cutter, node, err);
    case CHAIN_LOOPS:
        return visit_lists(cutter, index, err);
    case CHAIN_BLOCKS:
    case CHAIN_CALLS:
        break;
    }
    return visit_blocks(cutter, index, err);
}

static bool visit_all(struct cutter *cutter, struct error *err)
{
    const uint32_t root = 0;
    if (!vec_grow((void **)&cutter->stack, &cutter->capacity, 1, sizeof(uint32_t),
                  cutter->tree->budget, err))
        return false;
    cutter->stack[cutter->count++] = root;
    while (cutter->count > 0)
        if (!visit(cutter, cutter->stack[--cutter->count], err))
            return false;
    return true;
}

/* The number of levels outside of the model. If no function is named forward, these are the levels
 * that all lines share. */
static size_t outer_levels(const struct call_tree *tree)
{
    const struct call_node *node = &tree->nodes[0];
    if (tree->has_forward)
        return tree->callers;
    while (node->end_child - node->first_child == 1 &&
           tree->nodes[node->first_child].kind == CALL_LINE &&
           !is_leaf(&tree->nodes[node->first_child]))
        node = &tree->nodes[node->first_child];
    return node->level;
}

bool cut_choose(struct cut *cut, const struct call_tree *tree, const struct chain_options *options,
                struct error *err)
{
    struct cut made = {.budget = tree->budget};
    struct chain_options used = *options;
    struct cutter cutter = {.tree = tree, .options = &used, .cut = &made};
    size_t frames = symbols_frame_count(tree->symbols);
    size_t bytes = tree->node_count * (2 * sizeof(int64_t) + 2) + frames;
    if (!budget_take(tree->budget, bytes, err))
        return false;
    cutter.looped = calloc(1, bytes);
    bool ok = cutter.looped || error_out_of_memory(err);
    if (ok) {
        cutter.nested = cutter.looped + tree->node_count;
        cutter.keeping = (uint8_t *)(cutter.nested + tree->node_count);
        cutter.places = cutter.keeping + tree->node_count;
        cutter.matching = cutter.places + tree->node_count;
        cutter.outer = outer_levels(tree);
        sum_loops(&cutter);
        if (used.level == CHAIN_LOOPS)
            lists_find(tree, cutter.places);
        /* If loops hold less than half of the model, cut at the lines of the outermost forward. */
        bool by_loops =
            used.level == CHAIN_BLOCKS || used.level == CHAIN_CALLS || used.level == CHAIN_LOOPS;
        bool has_lists = cutter.places[0] != LIST_NONE;
        if (by_loops && !has_lists && cutter.looped[0] < weight_of(&cutter, &tree->nodes[0]) / 2)
            used = (struct chain_options){.level = CHAIN_DEPTH, .depth = 1, .most = used.most};
        ok = visit_all(&cutter, err);
        if (ok && cutter.label.failed)
            ok = error_out_of_memory(err);
    }
    buffer_release(&cutter.label);
    free(cutter.looped);
    budget_give(tree->budget, bytes);
    vec_free(cutter.stack, cutter.capacity, sizeof(uint32_t), tree->budget);
    if (ok)
        *cut = made;
    else
        cut_release(&made);
    return ok;
}

void cut_release(struct cut *cut)
{
    vec_free(cut->nodes, cut->nodes_capacity, sizeof(uint32_t), cut->budget);
    vec_free(cut->joined, cut->joined_capacity, sizeof(bool), cut->budget);
    *cut = (struct cut){0};
}
