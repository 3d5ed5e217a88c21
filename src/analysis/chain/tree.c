#include "analysis/chain/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chain/loops.h"

/* Loops are found as in a control-flow graph. The lines of a function are numbered in the order of
 * their first appearance. A run that goes back to an earlier line is a back edge: it closes a loop
 * over all lines from that one on. Overlapping loops are one loop. Nested loops are found in the
 * iterations of the outer one. */

/* Consecutive runs of one line. */
struct group {
    uint32_t first_run, end_run;
    uint32_t order; /* the number of its line, from 0 */
};

struct divider {
    struct call_tree *tree;
    uint32_t *stamps, *orders; /* by frame, the last entry for NO_FRAME: valid if the stamp is 1 +
                                  the node's index */
    size_t frame_count;
    struct group *groups;
    uint32_t *reach; /* by line number: the highest line number from which a run went back to it */
    size_t group_count, group_capacity, reach_capacity;
};

static bool add_node(struct divider *divider, struct call_node node, struct error *err)
{
    struct call_tree *tree = divider->tree;
    if (tree->node_count >= UINT32_MAX - 1)
        return error_set(err, STATUS_LIMIT, "the call tree is too large");
    return vec_push(tree->nodes, tree->node_count, tree->node_capacity, tree->budget, err, node);
}

static size_t slot_index(const struct divider *divider, frame_id frame)
{
    return frame < divider->frame_count ? frame : divider->frame_count;
}

/* Groups the runs of a node by line, and finds the back edges between its lines. */
static bool group_runs(struct divider *divider, uint32_t index, struct error *err)
{
    struct call_node node = divider->tree->nodes[index];
    struct budget *budget = divider->tree->budget;
    uint32_t lines = 0;
    frame_id last = NO_FRAME;
    divider->group_count = 0;
    for (uint32_t run = node.first_run; run < node.end_run; run++) {
        frame_id frame = call_frame(divider->tree, run, node.level);
        size_t slot = slot_index(divider, frame), count = divider->group_count;
        if (count > 0 && frame == last) {
            divider->groups[count - 1].end_run = run + 1;
            continue;
        }
        last = frame;
        if (!vec_grow((void **)&divider->groups, &divider->group_capacity, count + 1,
                      sizeof(struct group), budget, err) ||
            !vec_grow((void **)&divider->reach, &divider->reach_capacity, count + 1,
                      sizeof(uint32_t), budget, err))
            return false;
        if (divider->stamps[slot] != index + 1) {
            divider->stamps[slot] = index + 1;
            divider->reach[lines] = lines;
            divider->orders[slot] = lines++;
        }
        uint32_t order = divider->orders[slot];
        divider->groups[count] = (struct group){run, run + 1, order};
        divider->group_count = count + 1;
        if (count > 0 && divider->groups[count - 1].order > divider->reach[order])
            divider->reach[order] = divider->groups[count - 1].order;
    }
    return true;
}

/* Index of the last group of the loop that begins with group `at`; `at` if no loop begins there. */
static size_t loop_end(const struct divider *divider, size_t at)
{
    uint32_t first = divider->groups[at].order, last = divider->reach[first];
    for (uint32_t order = first + 1; order <= last; order++)
        if (divider->reach[order] > last)
            last = divider->reach[order];
    while (last > first && at + 1 < divider->group_count && divider->groups[at + 1].order <= last)
        at++;
    return at;
}

static bool divide_lines(struct divider *divider, uint32_t index, struct error *err)
{
    struct call_node node = divider->tree->nodes[index];
    if (!group_runs(divider, index, err))
        return false;
    size_t count = divider->group_count;
    if (count == 1 && call_frame(divider->tree, node.first_run, node.level) == NO_FRAME)
        return true;
    for (size_t at = 0; at < count; at++) {
        uint32_t first = divider->groups[at].first_run;
        size_t last = node.nesting < CALL_MOST_NESTING ? loop_end(divider, at) : at;
        struct call_node child = {.parent = index,
                                  .first_run = first,
                                  .end_run = divider->groups[last].end_run,
                                  .level = node.level,
                                  .kind = CALL_LOOP,
                                  .nesting = node.nesting};
        if (last == at) {
            child.kind = CALL_LINE;
            child.nesting = 0;
            if (call_frame(divider->tree, first, node.level) != NO_FRAME)
                child.level++;
        }
        at = last;
        if (!add_node(divider, child, err))
            return false;
    }
    return true;
}

/* How often a line of a loop appears after another line. */
static size_t appearances(const struct call_tree *tree, const struct call_node *loop, frame_id line)
{
    size_t count = 0;
    frame_id last = NO_FRAME;
    for (uint32_t run = loop->first_run; run < loop->end_run; run++) {
        frame_id frame = call_frame(tree, run, loop->level);
        count += frame == line && frame != last;
        last = frame;
    }
    return count;
}

/* The line with which iterations of a loop begin: its first one, or one that ran before the first
 * run of the tree, since there it made no activations. */
static frame_id loop_head(const struct call_tree *tree, const struct call_node *loop)
{
    frame_id first = call_frame(tree, loop->first_run, loop->level);
    frame_id earlier = loop->first_run == 0 && loop->level < CALL_MOST_LEVELS
                           ? tree->first_line[loop->level]
                           : first;
    size_t times = earlier == first ? 0 : appearances(tree, loop, earlier);
    bool is_in_all = times > 0 && times + 1 >= appearances(tree, loop, first);
    return is_in_all ? earlier : first;
}

/* The line of a run of the loop; after its last run, NO_FRAME. */
static frame_id line_in(const struct call_tree *tree, const struct call_node *loop, uint32_t run)
{
    return run < loop->end_run ? call_frame(tree, run, loop->level) : NO_FRAME;
}

/* The number of times that line `head` comes right after line `before`. */
static size_t successions(const struct call_tree *tree, const struct call_node *loop,
                          frame_id before, frame_id head)
{
    size_t count = 0;
    for (uint32_t run = loop->first_run; run + 1 < loop->end_run; run++)
        count += line_in(tree, loop, run) == before && line_in(tree, loop, run + 1) == head;
    return count;
}

/* True if `before` comes before each later appearance of the loop's first line as the first line of
 * a function does that runs again: the line before it is a later line of that function. */
static bool begins_again(const struct call_tree *tree, const struct call_node *loop,
                         frame_id before)
{
    frame_id first = line_in(tree, loop, loop->first_run);
    struct frame head = symbols_frame_at(tree->symbols, before);
    frame_id last = NO_FRAME, line = first; /* the lines before the present one */
    for (uint32_t run = loop->first_run; run < loop->end_run; run++) {
        frame_id now = line_in(tree, loop, run);
        if (now == line)
            continue;
        if (now == first && line == before) {
            if (last == NO_FRAME)
                return false;
            struct frame frame = symbols_frame_at(tree->symbols, last);
            if (!call_same_function(frame, head) || frame.line <= head.line)
                return false;
        }
        last = line;
        line = now;
    }
    return line != before;
}

/* The line before the second appearance of the loop's first line, or NO_FRAME. */
static frame_id line_before_second(const struct call_tree *tree, const struct call_node *loop)
{
    frame_id first = line_in(tree, loop, loop->first_run), last = first;
    for (uint32_t run = loop->first_run; run < loop->end_run; run++) {
        frame_id now = line_in(tree, loop, run);
        if (now == first && last != first)
            return last;
        last = now;
    }
    return NO_FRAME;
}

/* The line with which iterations begin if that is not their first one in the loop. NO_FRAME if
 * there is none. The first iteration lacks that line: there it made no activations, or no
 * allocations, as the norm that some models leave out of their first block. The line runs just
 * before each later appearance of the loop's first line, of which there are two at least: one may
 * be chance. It ran just before the loop's first run, too, or it begins_again(). The line may
 * appear elsewhere in the iterations, as that of a convolution does. */
static frame_id line_around(const struct call_tree *tree, const struct call_node *loop)
{
    frame_id first = line_in(tree, loop, loop->first_run);
    frame_id before = loop->first_run == 0 && loop->level < CALL_MOST_LEVELS
                          ? tree->line_before[loop->level]
                          : NO_FRAME;
    frame_id second = before == NO_FRAME ? line_before_second(tree, loop) : NO_FRAME;
    if (second != NO_FRAME && begins_again(tree, loop, second))
        before = second;
    size_t times = before == NO_FRAME || before == first ? 0 : appearances(tree, loop, first);
    return times > 2 && successions(tree, loop, before, first) == times - 1 ? before : NO_FRAME;
}

/* True if a line that comes just before the loop's first line, and not the rest of its runs, begins
 * at a run. */
static bool begins_around(const struct call_tree *tree, const struct call_node *loop, uint32_t run)
{
    frame_id around = line_in(tree, loop, run), head = line_in(tree, loop, loop->first_run);
    while (line_in(tree, loop, run) == around && run < loop->end_run)
        run++;
    return line_in(tree, loop, run) == head;
}

/* An iteration begins wherever the first line of the loop appears again after another line, or the
 * line around it. */
static bool divide_loop(struct divider *divider, uint32_t index, struct error *err)
{
    struct call_node node = divider->tree->nodes[index];
    frame_id around = line_around(divider->tree, &node);
    frame_id head = around == NO_FRAME ? loop_head(divider->tree, &node) : around;
    frame_id last = call_frame(divider->tree, node.first_run, node.level);
    uint32_t first = node.first_run, iteration = 0;
    for (uint32_t run = node.first_run + 1; run <= node.end_run; run++) {
        frame_id frame = run < node.end_run ? call_frame(divider->tree, run, node.level) : head;
        bool begins = run == node.end_run || (frame == head && last != head);
        last = frame;
        if (!begins ||
            (around != NO_FRAME && run < node.end_run && !begins_around(divider->tree, &node, run)))
            continue;
        struct call_node child = {.parent = index,
                                  .first_run = first,
                                  .end_run = run,
                                  .iteration = iteration++,
                                  .level = node.level,
                                  .kind = CALL_ITERATION,
                                  .nesting = (uint8_t)(node.nesting + 1)};
        if (!add_node(divider, child, err))
            return false;
        first = run;
    }
    return true;
}

/* True if a node is a line whose stacks have no further frames, so that nothing is left to divide.
 */
static bool is_leaf(const struct call_tree *tree, const struct call_node *node)
{
    return node->end_run == node->first_run + 1 && node->kind == CALL_LINE &&
           call_frame(tree, node->first_run, node->level) == NO_FRAME;
}

static bool divide_all(struct divider *divider, struct error *err)
{
    struct call_tree *tree = divider->tree;
    if (!add_node(divider, (struct call_node){.end_run = (uint32_t)tree->run_count}, err))
        return false;
    for (uint32_t index = 0; index < tree->node_count; index++) {
        uint32_t first = (uint32_t)tree->node_count;
        bool ok = is_leaf(tree, &tree->nodes[index])     ? true
                  : tree->nodes[index].kind == CALL_LOOP ? divide_loop(divider, index, err)
                                                         : divide_lines(divider, index, err);
        if (!ok)
            return false;
        tree->nodes[index].first_child = first;
        tree->nodes[index].end_child = (uint32_t)tree->node_count;
    }
    return true;
}

bool call_tree_divide(struct call_tree *tree, struct error *err)
{
    struct divider divider = {.tree = tree, .frame_count = symbols_frame_count(tree->symbols)};
    size_t bytes = 2 * (divider.frame_count + 1) * sizeof(uint32_t);
    if (tree->run_count == 0)
        return true;
    if (!budget_take(tree->budget, bytes, err))
        return false;
    divider.stamps = calloc(1, bytes);
    bool ok = divider.stamps || error_out_of_memory(err);
    divider.orders = ok ? divider.stamps + divider.frame_count + 1 : NULL;
    ok = ok && divide_all(&divider, err);
    free(divider.stamps);
    budget_give(tree->budget, bytes);
    vec_free(divider.groups, divider.group_capacity, sizeof(struct group), tree->budget);
    vec_free(divider.reach, divider.reach_capacity, sizeof(uint32_t), tree->budget);
    return ok;
}
