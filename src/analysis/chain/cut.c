#include "analysis/chain/cut_internal.h"

#include <stdlib.h>

#include "analysis/chain/lists.h"
#include "analysis/chain/loops.h"
#include "analysis/code/labels.h"
#include "analysis/code/paths.h"
#include "analysis/code/site_pattern.h"

/* The values of cutter->matching. */
enum { MATCH_UNKNOWN, MATCH_NO, MATCH_YES };

/* Adds the base name of the file, the line and the function: "model.py:253 forward". */
static void add_line_label(const struct symbols *symbols, frame_id id, struct buffer *label)
{
    struct frame frame = symbols_frame_at(symbols, id);
    struct text file = symbols_text(symbols, frame.file);
    label_add_file(label, file, path_base(file).size);
    buffer_printf(label, ":%u ", (unsigned)frame.line);
    label_add_name(label, symbols_text(symbols, frame.name));
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
    if (node->end_child - node->first_child != 1 || !cutter_is_loop(cutter, node->first_child))
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
            cutter_is_several(cutter, loop, child) ? cutter_main_loop(cutter, child) : NULL;
        if (inner ? !add_iterations(cutter, inner, err) : !add_part(cutter, child, false, err))
            return false;
    }
    return true;
}

static bool visit_blocks(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[index];
    int64_t kept = cutter_weight(cutter, node), looped = cutter->looped[index];
    if (cutter_is_loop(cutter, index)) {
        if (cutter_looped_within(cutter, node) >= kept - kept / 4 ||
            cutter_one_dominates(cutter, node))
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

/* An iteration over lines of a function, several of which call modules. They may be several modules
 * of lists, or of none. */
static bool calls_several(const struct cutter *cutter, const struct call_node *iteration)
{
    const struct call_tree *tree = cutter->tree;
    size_t lines = 0;
    for (uint32_t i = iteration->first_child; i < iteration->end_child; i++) {
        const struct call_node *child = &tree->nodes[i];
        lines += child->kind == CALL_LINE && child->level == iteration->level + 1u &&
                 call_is_module(tree, child->first_run, iteration->level);
    }
    return lines > 1;
}

/* The node is such an iteration, or a loop of nothing but those. */
static bool divides(const struct cutter *cutter, const struct call_node *node)
{
    const struct call_node *nodes = cutter->tree->nodes;
    const struct call_node *loop = node->kind == CALL_LOOP ? node : &nodes[node->parent];
    if (node->kind == CALL_LINE || !call_loop_is_inside(cutter->tree, loop))
        return false;
    if (node->kind == CALL_ITERATION)
        return calls_several(cutter, node);
    for (uint32_t i = loop->first_child; i < loop->end_child; i++)
        if (!calls_several(cutter, &nodes[i]))
            return false;
    return true;
}

/* Makes each module that a Sequential or another list calls a part, however little it keeps. */
static bool visit_lists(struct cutter *cutter, uint32_t index, struct error *err)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[index], *loop = &tree->nodes[node->parent];
    uint8_t place = node->kind == CALL_ITERATION ? cutter->places[node->parent] : LIST_NONE;
    bool is_module = place == LIST_LOOP || place == LIST_OWN;
    if (is_module && !runs_list(cutter, node)) {
        const struct call_node *inner =
            cutter_is_several(cutter, loop, index) ? cutter_main_loop(cutter, index) : NULL;
        return inner ? add_iterations(cutter, inner, err) : add_part(cutter, index, false, err);
    }
    bool leads = cutter->places[index] == LIST_LOOP ||
                 (cutter->places[index] == LIST_OWN && cutter_is_loop(cutter, index)) ||
                 (cutter->places[index] == LIST_WITHIN && node->kind != CALL_LOOP) ||
                 divides(cutter, node);
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
        cutter_sum_loops(&cutter);
        if (used.level == CHAIN_LOOPS)
            lists_find(tree, cutter.places);
        /* If loops hold less than half of the model, cut at the lines of the outermost forward that
         * has more than one large line. */
        bool by_loops =
            used.level == CHAIN_BLOCKS || used.level == CHAIN_CALLS || used.level == CHAIN_LOOPS;
        bool has_lists = cutter.places[0] != LIST_NONE;
        made.by_depth = by_loops && !has_lists &&
                        cutter.looped[0] < cutter_weight(&cutter, &tree->nodes[0]) / 2;
        if (made.by_depth)
            used = (struct chain_options){.level = CHAIN_DEPTH,
                                          .depth = cutter_dividing_depth(&cutter) + used.inner,
                                          .most = used.most};
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
