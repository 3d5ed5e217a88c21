#include "analysis/chain/lists.h"

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

void lists_find(const struct call_tree *tree, uint8_t *places)
{
    for (size_t i = 0; i < tree->node_count; i++)
        places[i] = LIST_NONE;
    for (size_t i = tree->node_count; i-- > 0;) { /* children come after their parents */
        const struct call_node *node = &tree->nodes[i];
        if (node->kind == CALL_LOOP)
            places[i] = node->level > 0 && call_is_list(tree, node->first_run, node->level - 1u) &&
                                node->end_child - node->first_child > 1
                            ? LIST_LOOP
                            : LIST_NONE;
        if (places[i] != LIST_NONE && places[node->parent] == LIST_NONE)
            places[node->parent] = LIST_WITHIN;
    }
}
