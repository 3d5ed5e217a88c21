#include "analysis/chain/model_runs.h"

#include <string.h>

#include "analysis/chain/loops.h"

#define MOST_FUNCTIONS 64 /* number of outermost forwards that are told apart */

/* An outermost forward, and the call of it that keeps the largest share of its allocations. */
struct function {
    struct frame forward;
    uint64_t kept, made; /* number of allocations */
};

struct finder {
    const struct call_tree *tree;
    struct module_calls *calls;
    struct function functions[MOST_FUNCTIONS];
    size_t function_count;
};

static bool is_in_forward(const struct call_tree *tree, uint32_t run)
{
    frame_id id = call_frame(tree, run, tree->callers);
    return id != NO_FRAME &&
           call_is_forward(symbols_text(tree->symbols, symbols_frame_at(tree->symbols, id).name));
}

/* The end of the runs of allocations that belong to the same run of the model as `run`: they are in
 * a forward, without a break, with the same caller. */
static uint32_t model_run_end(const struct call_tree *tree, uint32_t run)
{
    uint32_t end = run + 1;
    while (end < tree->run_count && is_in_forward(tree, run) && is_in_forward(tree, end) &&
           (tree->callers == 0 || call_frame(tree, end, 0) == call_frame(tree, run, 0)))
        end++;
    return end;
}

static struct function measure(const struct call_tree *tree, uint32_t run, uint32_t end)
{
    return (struct function){symbols_frame_at(tree->symbols, call_frame(tree, run, tree->callers)),
                             tree->runs[end].kept_count - tree->runs[run].kept_count,
                             tree->runs[end].lifetime - tree->runs[run].lifetime};
}

static struct function *find_function(struct finder *finder, struct frame forward)
{
    for (size_t i = 0; i < finder->function_count; i++)
        if (call_same_function(finder->functions[i].forward, forward))
            return &finder->functions[i];
    return NULL;
}

static void note_function(struct finder *finder, struct function one)
{
    struct function *known = find_function(finder, one.forward);
    if (!known && finder->function_count < MOST_FUNCTIONS)
        finder->functions[finder->function_count++] = one;
    else if (known && one.kept * known->made > known->kept * one.made)
        *known = one;
}

/* True if the runs of allocations run..end-1, in a forward, compute no gradients: they keep nothing
 * for the backward pass. A result that the program holds until then is there all the same. So a
 * call counts, too, if it keeps at most half as many of its allocations as another call of this
 * forward does. */
static bool is_without(struct finder *finder, uint32_t run, uint32_t end)
{
    struct function one = measure(finder->tree, run, end);
    const struct function *known = find_function(finder, one.forward);
    return one.kept == 0 || (known && 2 * one.kept * known->made <= known->kept * one.made);
}

/* True if the runs of allocations run..end-1 include the line with which the first run of the model
 * began, so that they are another run of it. */
static bool is_model_run(const struct call_tree *tree, uint32_t run, uint32_t end)
{
    frame_id first = call_frame(tree, 0, tree->callers);
    for (; run < end; run++)
        if (call_frame(tree, run, tree->callers) == first)
            return true;
    return false;
}

static bool add_runs(struct finder *finder, struct error *err)
{
    struct module_calls *calls = finder->calls;
    const struct call_tree *tree = finder->tree;
    for (uint32_t run = 0, end; run < tree->run_count; run = end) {
        end = model_run_end(tree, run);
        if (!is_in_forward(tree, run))
            continue;
        struct model_run made = {run, end};
        if (is_without(finder, run, end))
            memset(calls->runs_without + run, 1, end - run);
        else if (is_model_run(tree, run, end) &&
                 !vec_push(calls->model_runs, calls->model_run_count, calls->model_run_capacity,
                           tree->budget, err, made))
            return false;
    }
    calls->model_run_count = calls->model_run_count > 1 ? calls->model_run_count : 0;
    return true;
}

bool model_runs_find(struct module_calls *calls, const struct call_tree *tree, struct error *err)
{
    struct finder finder = {.tree = tree, .calls = calls};
    if (!vec_reserve(calls->runs_without, calls->runs_without_capacity, tree->run_count + 1,
                     tree->budget, err))
        return false;
    memset(calls->runs_without, 0, tree->run_count + 1);
    for (uint32_t run = 0, end; run < tree->run_count; run = end) {
        end = model_run_end(tree, run);
        if (is_in_forward(tree, run))
            note_function(&finder, measure(tree, run, end));
    }
    return add_runs(&finder, err);
}
