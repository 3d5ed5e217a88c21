#include "analysis/chain/calls.h"

#include <stdlib.h>

#include "analysis/chain/callers.h"
#include "analysis/chain/lists.h"
#include "analysis/chain/loops.h"
#include "analysis/chain/model_runs.h"

#define MOST_BACK 4096 /* number of earlier calls that are searched for one from the same line */

struct finder {
    const struct call_tree *tree;
    struct module_calls *calls;
    uint32_t model_run;
    uint64_t *begins; /* by run: bit k: an iteration begins here, in which frame k calls a module */
    size_t begins_capacity;
};

static bool find_begins(struct finder *finder, struct error *err)
{
    const struct call_tree *tree = finder->tree;
    if (!vec_reserve(finder->begins, finder->begins_capacity, tree->run_count + 1,
                     finder->tree->budget, err))
        return false;
    for (size_t i = 0; i <= tree->run_count; i++)
        finder->begins[i] = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].kind != CALL_ITERATION)
            continue;
        uint32_t frame = call_iteration_caller(tree, &tree->nodes[i]);
        finder->calls->in_loop |= frame < tree->callers;
        if (frame != CALL_NONE)
            finder->begins[tree->nodes[i].first_run] |= UINT64_C(1) << frame;
    }
    return true;
}

/* The index of the first frame from `from` on that calls a module other than a container, or
 * CALL_NONE. */
static uint32_t next_frame(const struct call_tree *tree, uint32_t run, uint32_t from)
{
    uint64_t calls = from < 64 ? tree->runs[run].calls >> from << from : 0;
    for (; calls != 0; calls &= calls - 1) {
        uint32_t frame = (uint32_t)__builtin_ctzll(calls);
        if (call_frame(tree, run, frame) == NO_FRAME)
            return CALL_NONE;
        if (!call_is_list(tree, run, frame + 1u))
            return frame;
    }
    return CALL_NONE;
}

/* The index of the frame for whose line a call is counted. A call that a container makes is counted
 * for the line that called the container; if the model itself is a container, for the caller of the
 * model.
 */
static uint32_t line_of(const struct call_tree *tree, uint32_t run, uint32_t frame)
{
    while (frame > 0 && call_is_list(tree, run, frame))
        frame--;
    return frame;
}

/* True if two runs are in different functions at a level. */
static bool calls_other(const struct call_tree *tree, uint32_t a, uint32_t b, uint32_t level)
{
    frame_id x = call_frame(tree, a, level), y = call_frame(tree, b, level);
    if (x == NO_FRAME || y == NO_FRAME)
        return x != y;
    return !call_same_function(symbols_frame_at(tree->symbols, x),
                               symbols_frame_at(tree->symbols, y));
}

/* The index of the last call, from call `from` on, that was made by frame `line` of a run, or
 * CALL_NONE. `first_frame` is the first frame inside of the enclosing call. */
static uint32_t last_of_line(const struct finder *finder, size_t from, uint32_t run,
                             uint32_t first_frame, uint32_t line)
{
    const struct module_calls *calls = finder->calls;
    if (calls->count - from > MOST_BACK)
        from = calls->count - MOST_BACK;
    for (size_t i = calls->count; i-- > from;)
        if (calls->items[i].line == line &&
            call_same_frames(finder->tree, calls->items[i].first_run, run, first_frame, line))
            return (uint32_t)i;
    return CALL_NONE;
}

/* Adds the calls in runs first..end-1 whose enclosing call is `around`. */
static bool add_calls(struct finder *finder, uint32_t first, uint32_t end, uint32_t around,
                      uint32_t first_frame, struct error *err)
{
    struct module_calls *calls = finder->calls;
    const struct call_tree *tree = finder->tree;
    size_t from = calls->count;
    uint32_t open = CALL_NONE; /* the call of the run before */
    for (uint32_t run = first; run < end; run++) {
        uint32_t frame = calls->runs_without[run] ? CALL_NONE : next_frame(tree, run, first_frame);
        if (frame == CALL_NONE) {
            open = CALL_NONE;
            continue;
        }
        struct module_call *last = open == CALL_NONE ? NULL : &calls->items[open];
        if (last && last->frame == frame &&
            call_same_frames(tree, run - 1, run, first_frame, frame) &&
            !calls_other(tree, run - 1, run, frame + 1) && !(finder->begins[run] >> frame & 1)) {
            last->end_run = run + 1;
            continue;
        }
        uint32_t line = line_of(tree, run, frame);
        uint32_t same = last_of_line(finder, from, run, first_frame, line);
        struct module_call call = {
            .first_run = run,
            .end_run = run + 1,
            .around = around,
            .same_line = same,
            .model_run = around == CALL_NONE ? finder->model_run : calls->items[around].model_run,
            .number = same == CALL_NONE ? 0 : calls->items[same].number + 1,
            .frame = (uint16_t)frame,
            .line = (uint16_t)line};
        open = (uint32_t)calls->count;
        if (!vec_push(calls->items, calls->count, calls->capacity, finder->tree->budget, err, call))
            return false;
    }
    for (size_t i = calls->count; i-- > from;) {
        struct module_call *call = &calls->items[i];
        call->total = call->total > 0 ? call->total : call->number + 1;
        if (call->same_line != CALL_NONE)
            calls->items[call->same_line].total = call->total;
    }
    return true;
}

/* Adds the outermost calls. Code between two runs of the model is counted as part of the first. */
static bool add_outermost(struct finder *finder, struct error *err)
{
    const struct module_calls *calls = finder->calls;
    const struct call_tree *tree = finder->tree;
    uint32_t run = 0, end;
    do {
        uint32_t next = finder->model_run + 1;
        end = next < calls->model_run_count ? calls->model_runs[next].first_run
                                            : (uint32_t)tree->run_count;
        if (!add_calls(finder, run, end, CALL_NONE, tree->callers, err))
            return false;
        run = end;
        finder->model_run++;
    } while (end < tree->run_count);
    return true;
}

static bool find_calls(struct finder *finder, struct error *err)
{
    struct module_calls *calls = finder->calls;
    if (!find_begins(finder, err) || !model_runs_find(calls, finder->tree, err) ||
        !add_outermost(finder, err))
        return false;
    calls->outermost = (uint32_t)calls->count;
    for (size_t i = 0; i < calls->count; i++) {
        struct module_call call = calls->items[i];
        calls->items[i].first_child = (uint32_t)calls->count;
        if (!add_calls(finder, call.first_run, call.end_run, (uint32_t)i, call.frame + 1u, err))
            return false;
        calls->items[i].end_child = (uint32_t)calls->count;
    }
    return true;
}

bool module_calls_find(struct module_calls *calls, const struct call_tree *tree, struct error *err)
{
    struct module_calls made = {.budget = tree->budget};
    struct finder finder = {.tree = tree, .calls = &made};
    bool ok = find_calls(&finder, err);
    vec_free(finder.begins, finder.begins_capacity, sizeof(*finder.begins), tree->budget);
    if (ok)
        *calls = made;
    else
        module_calls_release(&made);
    return ok;
}

void module_calls_release(struct module_calls *calls)
{
    vec_free(calls->items, calls->capacity, sizeof(*calls->items), calls->budget);
    vec_free(calls->runs_without, calls->runs_without_capacity, sizeof(*calls->runs_without),
             calls->budget);
    vec_free(calls->model_runs, calls->model_run_capacity, sizeof(*calls->model_runs),
             calls->budget);
    *calls = (struct module_calls){0};
}

/* The first of the calls first..end-1 that ends after a run, or `end`. */
static uint32_t first_ending_after(const struct module_calls *calls, uint32_t first, uint32_t end,
                                   uint32_t run)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (calls->items[middle].end_run <= run)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void module_calls_within(const struct module_calls *calls, uint32_t first_run, uint32_t end_run,
                         uint32_t *first, uint32_t *end)
{
    const struct module_call *items = calls->items;
    uint32_t i = 0, last = calls->outermost;
    for (;;) {
        i = first_ending_after(calls, i, last, first_run);
        if (i == last || (items[i].first_run >= first_run && items[i].end_run <= end_run))
            break;
        last = items[i].end_child;
        i = items[i].first_child;
    }
    *first = *end = i;
    while (*end < last && items[*end].end_run <= end_run)
        ++*end;
}
