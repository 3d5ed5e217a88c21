#include "analysis/chain/lists.h"

#include "analysis/chain/loops.h"

bool call_is_list(const struct call_tree *tree, uint32_t run, size_t level)
{
    frame_id id = call_frame(tree, run, level);
    if (id == NO_FRAME)
        return false;
    struct frame frame = symbols_frame_at(tree->symbols, id);
    struct text file = symbols_text(tree->symbols, frame.file);
    return text_ends(file, "torch/nn/modules/container.py") ||
           text_ends(file, "torch\\nn\\modules\\container.py");
}

/* True if every iteration of a loop calls a module from the same line, as loops over a ModuleList
 * do. */
static bool calls_modules(const struct call_tree *tree, const struct call_node *loop)
{
    if (loop->level == 0 || call_frame(tree, loop->first_run, loop->level) == NO_FRAME ||
        call_loop_is_inside(tree, loop))
        return false;
    for (uint32_t run = loop->first_run; run < loop->end_run; run++)
        if (!call_is_module(tree, run, loop->level - 1u))
            return false;
    return true;
}

static enum list_place place_of(const struct call_tree *tree, const struct call_node *loop)
{
    if (loop->end_child - loop->first_child < 2)
        return LIST_NONE;
    if (loop->level > 0 && call_is_list(tree, loop->first_run, loop->level - 1u))
        return LIST_LOOP;
    return calls_modules(tree, loop) ? LIST_OWN : LIST_NONE;
}

void lists_find(const struct call_tree *tree, uint8_t *places)
{
    for (size_t i = 0; i < tree->node_count; i++)
        places[i] = LIST_NONE;
    for (size_t i = tree->node_count; i-- > 0;) { /* children come after their parents */
        const struct call_node *node = &tree->nodes[i];
        enum list_place own = node->kind == CALL_LOOP ? place_of(tree, node) : LIST_NONE;
        if (own != LIST_NONE)
            places[i] = (uint8_t)own;
        if (places[i] != LIST_NONE && places[node->parent] == LIST_NONE)
            places[node->parent] = LIST_WITHIN;
    }
}
