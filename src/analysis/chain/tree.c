#include "analysis/chain/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "model/sums.h"

struct search {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct steps *steps;
    const struct categories *categories;
    size_t peak_step;
    struct pass *best;
};

bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime)
{
    const struct lifetime *life = &timeline->lifetimes[lifetime];
    uint32_t end = lifetime_end(life);
    return life->alloc >= pass->first &&
           category_is_saved((enum category)categories->of_lifetime[lifetime]) &&
           end >= pass->backward;
}

/* Sums up what the pass keeps. What was kept before the first activation that this backward frees
 * belongs to others, such as a validation between two steps. No overflow: the timeline checked it.
 */
static void measure(const struct search *search, struct pass *pass)
{
    const struct timeline *timeline = search->timeline;
    bool any = false;
    size_t count = timeline->lifetime_count;
    for (size_t i = births_from(timeline, pass->first); i < count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lifetime->alloc >= pass->backward)
            break;
        if (!pass_keeps(pass, timeline, search->categories, i))
            continue;
        if (!any && !pass->unfinished && lifetime_end(lifetime) >= pass->end)
            continue;
        if (!any)
            pass->first = lifetime->alloc;
        any = true;
        sum_add(&pass->kept_bytes, trace_size(timeline->trace, lifetime->alloc));
    }
}

static void consider(const struct search *search, struct pass pass)
{
    struct pass *best = search->best;
    measure(search, &pass);
    pass.step = steps_of(search->steps, pass.first);
    pass.at_peak = search->peak_step != NO_STEP && pass.step == search->peak_step;
    pass.any_backward = best->any_backward;
    pass.found = pass.kept_bytes > 0;
    bool better = pass.at_peak != best->at_peak ? pass.at_peak : pass.kept_bytes > best->kept_bytes;
    if (pass.stopped) /* a whole pass that keeps about as much tells more */
        better = pass.kept_bytes - pass.kept_bytes / 8 > best->kept_bytes;
    if (pass.found && (!best->found || better))
        *best = pass;
}

static bool runs_out(const struct search *search, uint32_t first)
{
    const struct trace *trace = search->timeline->trace;
    for (uint32_t item = (uint32_t)trace->count; item-- > first;)
        if (trace->action[item] == ACTION_OOM)
            return true;
    return false;
}

/* The last pass. If memory runs out in its backward, that has not freed what the forward kept, and
 * nothing of it counts. */
static void consider_last(const struct search *search, uint32_t first, uint32_t backward,
                          uint32_t end)
{
    bool stopped = end == search->timeline->trace->count && runs_out(search, backward);
    consider(search, (struct pass){.first = first,
                                   .backward = backward,
                                   .end = stopped ? backward : end,
                                   .unfinished = stopped,
                                   .stopped = stopped});
}

/* Without a backward pass, only the last forward pass is considered. */
static void consider_unfinished(const struct search *search, uint32_t first)
{
    uint32_t end = (uint32_t)search->timeline->trace->count;
    if (runs_out(search, first))
        consider(search,
                 (struct pass){.first = first, .backward = end, .end = end, .unfinished = true});
}

/* Optimizers may step within the backward pass, one parameter at a time. So a pass only ends at an
 * optimizer step if no more backward follows before the next forward pass. */
void pass_find(struct pass *pass, const struct timeline *timeline, const struct phases *phases,
               const struct steps *steps, const struct categories *categories)
{
    struct search search = {timeline, phases, steps, categories, NO_STEP, pass};
    const uint32_t none = EVENT_NEVER;
    uint32_t first = none, backward = none, over = none;
    *pass = (struct pass){.step = NO_STEP};
    if (timeline->active.peak_event >= 0)
        search.peak_step = steps_of(steps, (uint32_t)timeline->active.peak_event);
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase_run *run = &phases->runs[i];
        if (run->phase == PHASE_OPTIMIZER) {
            first = backward == none ? none : first;
            over = over == none ? run->first : over;
        } else if (run->phase == PHASE_FORWARD) {
            uint32_t end = over == none ? run->first : over;
            if (backward != none)
                consider(&search, (struct pass){.first = first, .backward = backward, .end = end});
            if (first == none || backward != none)
                first = run->first;
            backward = over = none;
        } else if (run->phase == PHASE_BACKWARD && first != none) {
            pass->any_backward = true;
            backward = backward == none ? run->first : backward;
            over = none;
        }
    }
    uint32_t end = over == none ? (uint32_t)timeline->trace->count : over;
    if (backward != none)
        consider_last(&search, first, backward, end);
    else if (first != none && !pass->any_backward)
        consider_unfinished(&search, first);
}

/* Lines of a function are numbered in the order of their first appearance. Going back to an earlier
 * line closes a loop over all lines from there on, like a back edge in a flow graph. Overlapping
 * loops are one loop; loops within it are found in its iterations. */
/* Consecutive runs of one line. */
struct group {
    uint32_t first_run, end_run;
    uint32_t order; /* number of its line, from 0 */
};

struct divider {
    struct call_tree *tree;
    uint32_t *stamps,
        *orders; /* by frame, the last for NO_FRAME: valid if the stamp is the node's */
    size_t frame_count;
    struct group *groups;
    uint32_t *reach; /* by order: the last line that went back to it */
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

/* Groups a node's runs, and finds which of their lines go back to which. */
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

/* The last group of the loop that begins with group `at`; `at` itself if there is no loop. */
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

/* An iteration begins whenever the first line appears again. */
static bool divide_loop(struct divider *divider, uint32_t index, struct error *err)
{
    struct call_node node = divider->tree->nodes[index];
    frame_id head = call_frame(divider->tree, node.first_run, node.level), last = head;
    uint32_t first = node.first_run, iteration = 0;
    for (uint32_t run = node.first_run + 1; run <= node.end_run; run++) {
        frame_id frame = run < node.end_run ? call_frame(divider->tree, run, node.level) : head;
        bool begins = run == node.end_run || (frame == head && last != head);
        last = frame;
        if (!begins)
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

/* True for a line without a frame at its level: nothing is left to divide. */
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
