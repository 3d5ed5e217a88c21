#include "analysis/chain/callers.h"

#include "analysis/chain/lists.h"
#include "analysis/chain/loops.h"

bool call_same_frames(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t from,
                      uint32_t to)
{
    for (uint32_t k = from; k <= to; k++)
        if (call_frame(tree, a, k) != call_frame(tree, b, k))
            return false;
    return true;
}

/* True if an iteration runs the code of frame level-1 itself, or several functions that it calls:
 * then the whole function runs again, and not a loop in one line of it. */
static bool repeats_function(const struct call_tree *tree, const struct call_node *iteration)
{
    frame_id first = call_frame(tree, iteration->first_run, iteration->level);
    for (uint32_t run = iteration->first_run; run < iteration->end_run; run++) {
        frame_id id = call_frame(tree, run, iteration->level);
        if (id == NO_FRAME || !call_same_function(symbols_frame_at(tree->symbols, id),
                                                  symbols_frame_at(tree->symbols, first)))
            return true;
    }
    return false;
}

/* True if a loop at the same level contains the iteration. */
static bool is_in_iteration(const struct call_tree *tree, const struct call_node *iteration)
{
    uint32_t above = tree->nodes[iteration->parent].parent;
    for (; above > 0; above = tree->nodes[above].parent)
        if (tree->nodes[above].kind == CALL_ITERATION &&
            tree->nodes[above].level == iteration->level)
            return true;
    return false;
}

/* True if two runs are in different lines of one function, which has the same callers. */
static bool is_other_line(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t level)
{
    frame_id x = call_frame(tree, a, level), y = call_frame(tree, b, level);
    return x != y && x != NO_FRAME && y != NO_FRAME && call_same_frames(tree, a, b, 0, level - 1) &&
           call_same_function(symbols_frame_at(tree->symbols, x),
                              symbols_frame_at(tree->symbols, y));
}

/* True if other lines of the function at level-1 run next to the loop. */
static bool has_other_lines(const struct call_tree *tree, const struct call_node *loop,
                            uint32_t level)
{
    return (loop->first_run > 0 &&
            is_other_line(tree, loop->first_run - 1, loop->first_run, level - 1)) ||
           (loop->end_run < tree->run_count &&
            is_other_line(tree, loop->end_run, loop->end_run - 1, level - 1));
}

/* True if the function at level-1 is the forward of a module that a container calls, and each
 * iteration is another call of it. All its code is in one line, so that only what it calls tells
 * its calls apart. */
static bool is_forward_in_one_line(const struct call_tree *tree, const struct call_node *iteration)
{
    uint32_t run = iteration->first_run, level = iteration->level;
    return level >= 2 && level - 2 >= tree->callers && call_is_list(tree, run, level - 2) &&
           call_is_module(tree, run, level - 2) && repeats_function(tree, iteration) &&
           !is_in_iteration(tree, iteration) &&
           !has_other_lines(tree, &tree->nodes[iteration->parent], level);
}

uint32_t call_iteration_caller(const struct call_tree *tree, const struct call_node *iteration)
{
    uint32_t run = iteration->first_run, level = iteration->level;
    frame_id id = call_frame(tree, run, level);
    if (level == 0 || id == NO_FRAME || call_loop_is_inside(tree, &tree->nodes[iteration->parent]))
        return CALL_NONE;
    if (is_forward_in_one_line(tree, iteration))
        return level - 2;
    if (call_is_module(tree, run, level - 1))
        return level - 1;
    struct frame frame = symbols_frame_at(tree->symbols, id);
    if (call_is_forward(symbols_text(tree->symbols, frame.name)))
        while (level-- > 0)
            if (call_is_module(tree, run, level))
                return level;
    return CALL_NONE;
}
