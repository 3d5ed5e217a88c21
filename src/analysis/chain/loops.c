#include "analysis/chain/loops.h"

#define NEAR 8 /* nodes that are examined on either side of a loop */

bool call_loop_is_inside(const struct call_tree *tree, const struct call_node *loop)
{
    const struct call_node *nodes = tree->nodes, *parent = &nodes[loop->parent];
    frame_id first_line = call_frame(tree, loop->first_run, loop->level);
    if (first_line == NO_FRAME)
        return false;
    struct frame head = symbols_frame_at(tree->symbols, first_line);
    uint32_t at = (uint32_t)(loop - nodes);
    uint32_t first = at - parent->first_child < NEAR ? parent->first_child : at - NEAR;
    uint32_t end = parent->end_child - at < NEAR ? parent->end_child : at + NEAR;
    for (uint32_t i = first; i < end; i++) {
        frame_id id = call_frame(tree, nodes[i].first_run, loop->level);
        if (i == at || id == NO_FRAME)
            continue;
        /* Outside of a loop, a function only goes on to later lines. A line in the wrong order is
         * in a function of the same name, of another class. */
        struct frame frame = symbols_frame_at(tree->symbols, id);
        if (call_same_function(frame, head) &&
            (i < at ? frame.line <= head.line : frame.line >= head.line))
            return true;
    }
    return loop->level == 0;
}
