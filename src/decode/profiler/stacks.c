/* The stack of a memory event consists of the ranges that are open on its thread. */
#include <stdlib.h>

#include "base/bisect.h"
#include "decode/profiler/frames.h"
#include "decode/profiler/operations.h"
#include "decode/profiler/profile.h"

#define FRAMES_MOST 512  /* the innermost ones of a stack */
#define OPEN_MOST   2048 /* ranges within ranges; deeper ones are left out, to bound the time */

/* An autograd node whose forward stack is wanted. */
struct node {
    uint32_t sequence;
    stack_id stack;
};

/* A range that contains the moment. */
struct open_range {
    struct profile_range range;
    string_id line; /* of a Python function: of the last call in it, "model.py:58" */
};

struct sweep {
    struct profile *profile;
    struct profile_frames frames;
    struct open_range *open; /* the ranges that contain the moment, outermost first */
    size_t open_count, open_capacity;
    struct node *nodes; /* by sequence */
    size_t node_count, node_capacity;
    struct error *err;
};

static const struct profile_range *open_range(const struct sweep *sweep, size_t depth)
{
    return &sweep->open[depth].range;
}

static void close_until(struct sweep *sweep, int64_t time_ns)
{
    while (sweep->open_count > 0 && range_end(open_range(sweep, sweep->open_count - 1)) < time_ns)
        sweep->open_count--;
}

/* The innermost Python function has come to the line that calls the range. It stays there until the
 * next call: only calls have lines. */
static void set_line(struct sweep *sweep, const struct profile_range *range)
{
    for (size_t depth = sweep->open_count; depth-- > 0;) {
        struct open_range *caller = &sweep->open[depth];
        if (caller->range.label.kind != RANGE_PYTHON)
            continue;
        if (profile_frames_in_file(&sweep->frames, caller->range.label.name, range->label.from))
            caller->line = range->label.from;
        return;
    }
}

static bool push_open(struct sweep *sweep, const struct profile_range *range)
{
    close_until(sweep, range->start_ns);
    if (range->label.from != STRING_EMPTY)
        set_line(sweep, range);
    return sweep->open_count == OPEN_MOST || range->label.kind == RANGE_BUILT_IN ||
           vec_push(sweep->open, sweep->open_count, sweep->open_capacity, sweep->profile->budget,
                    sweep->err, ((struct open_range){*range, STRING_EMPTY}));
}

/* Interns the stack of the open ranges at a moment. */
static bool open_stack(struct sweep *sweep, int64_t time_ns, stack_id *stack)
{
    string_id calls = STRING_EMPTY;
    sweep->frames.count = 0;
    for (size_t depth = sweep->open_count; depth-- > 0 && sweep->frames.count < FRAMES_MOST;) {
        const struct profile_range *range = open_range(sweep, depth);
        if (range_end(range) < time_ns || range->label.kind == RANGE_ANNOTATION)
            continue;
        if (!profile_frames_add(&sweep->frames, &range->label, sweep->open[depth].line, sweep->err))
            return false;
        if (calls == STRING_EMPTY)
            calls = range->label.calls;
    }
    return (calls == STRING_EMPTY || profile_frames_add_calls(&sweep->frames, calls, sweep->err)) &&
           symbols_stack(sweep->profile->symbols, sweep->frames.list, sweep->frames.count, stack,
                         sweep->err);
}

/* The number of the innermost node that the autograd engine evaluates, or 0. */
static uint32_t open_node(const struct sweep *sweep, int64_t time_ns)
{
    for (size_t depth = sweep->open_count; depth-- > 0;) {
        const struct profile_range *range = open_range(sweep, depth);
        if (range->label.kind == RANGE_ENGINE && range_end(range) >= time_ns)
            return range->sequence;
    }
    return 0;
}

/* The memory events of a thread, in order of time: memory[items[i]]. */
struct thread_events {
    const uint32_t *items;
    size_t count;
};

static bool sweep_thread(struct sweep *sweep, size_t thread, struct thread_events events)
{
    struct profile *profile = sweep->profile;
    struct range_cursor cursor = range_cursor_begin(&profile->ranges, thread);
    stack_id stack = STACK_NONE;
    uint32_t sequence = 0;
    bool fresh = true; /* the ranges changed since the last event */
    struct operation_walk operations = operation_walk_begin(profile, thread);
    sweep->open_count = 0;
    for (size_t i = 0; i < events.count; i++) {
        struct profile_memory *memory = &profile->memory[events.items[i]];
        for (; cursor.more && cursor.range.start_ns <= memory->time_ns;
             range_cursor_step(&cursor)) {
            if (!push_open(sweep, &cursor.range))
                return false;
            fresh = true;
        }
        size_t before = sweep->open_count;
        close_until(sweep, memory->time_ns);
        if ((fresh || before != sweep->open_count) && !open_stack(sweep, memory->time_ns, &stack))
            return false;
        if (fresh || before != sweep->open_count)
            sequence = open_node(sweep, memory->time_ns);
        fresh = false;
        memory->stack = stack;
        memory->sequence = sequence;
        if (profile->wants_kernels)
            memory->operation = operation_walk_to(&operations, memory->time_ns);
    }
    return true;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Lists each node once. */
static bool list_nodes(struct sweep *sweep)
{
    const struct profile *profile = sweep->profile;
    size_t kept = 0;
    for (size_t i = 0; i < profile->memory_count; i++) {
        uint32_t sequence = profile->memory[i].sequence;
        if (sequence != 0 &&
            (sweep->node_count == 0 || sweep->nodes[sweep->node_count - 1].sequence != sequence) &&
            !vec_push(sweep->nodes, sweep->node_count, sweep->node_capacity, profile->budget,
                      sweep->err, (struct node){sequence, STACK_NONE}))
            return false;
    }
    if (sweep->node_count > 1)
        qsort(sweep->nodes, sweep->node_count, sizeof(*sweep->nodes), compare_nodes);
    for (size_t i = 0; i < sweep->node_count; i++)
        if (i == 0 || sweep->nodes[i].sequence != sweep->nodes[kept - 1].sequence)
            sweep->nodes[kept++] = sweep->nodes[i];
    sweep->node_count = kept;
    return true;
}

static struct node *find_node(const struct sweep *sweep, uint32_t sequence)
{
    if (sweep->node_count == 0)
        return NULL;
    size_t at =
        bisect_less(&sweep->nodes->sequence, sizeof(*sweep->nodes), sweep->node_count, sequence);
    return at < sweep->node_count && sweep->nodes[at].sequence == sequence ? &sweep->nodes[at]
                                                                           : NULL;
}

/* Finds the operators that made the nodes: those with the same number outside of the engine. Of
 * several, such as linear and addmm, the last to begin made the node. */
static bool sweep_nodes(struct sweep *sweep, size_t thread)
{
    struct range_cursor cursor = range_cursor_begin(&sweep->profile->ranges, thread);
    sweep->open_count = 0;
    for (; cursor.more; range_cursor_step(&cursor)) {
        const struct profile_range *range = &cursor.range;
        if (!push_open(sweep, range))
            return false;
        struct node *node = range->label.kind == RANGE_OPERATOR && range->sequence != 0
                                ? find_node(sweep, range->sequence)
                                : NULL;
        if (node && open_node(sweep, range->start_ns) != range->sequence &&
            !open_stack(sweep, range->start_ns, &node->stack))
            return false;
    }
    return true;
}

/* Sorts the indices of the memory events by thread; `start` has the first of each thread. */
static bool sweep_threads(struct sweep *sweep, uint32_t *items, size_t *start)
{
    struct profile *profile = sweep->profile;
    for (size_t i = 0; i < profile->memory_count; i++)
        start[profile->memory[i].thread + 2]++;
    for (size_t i = 2; i < profile->thread_count + 2; i++)
        start[i] += start[i - 1];
    for (size_t i = 0; i < profile->memory_count; i++)
        items[start[profile->memory[i].thread + 1]++] = (uint32_t)i;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (!sweep_thread(sweep, i,
                          (struct thread_events){items + start[i], start[i + 1] - start[i]}))
            return false;
    if (!list_nodes(sweep))
        return false;
    for (size_t i = 0; i < profile->thread_count && sweep->node_count > 0; i++)
        if (!sweep_nodes(sweep, i))
            return false;
    for (size_t i = 0; i < profile->memory_count; i++) {
        const struct node *node = find_node(sweep, profile->memory[i].sequence);
        profile->memory[i].forward_stack = node ? node->stack : STACK_NONE;
    }
    return true;
}

bool profile_stacks(struct profile *profile, struct error *err)
{
    struct sweep sweep = {.profile = profile, .err = err};
    uint32_t *items = NULL;
    size_t *start = NULL, item_capacity = 0, start_capacity = 0;
    bool ok = vec_reserve(items, item_capacity, profile->memory_count, profile->budget, err) &&
              vec_reserve(start, start_capacity, profile->thread_count + 2, profile->budget, err) &&
              profile_frames_init(&sweep.frames, profile, err);
    for (size_t i = 0; ok && i < profile->thread_count + 2; i++)
        start[i] = 0;
    ok = ok && sweep_threads(&sweep, items, start);
    if (sweep.frames.profile)
        profile_frames_release(&sweep.frames);
    vec_free(items, item_capacity, sizeof(*items), profile->budget);
    vec_free(start, start_capacity, sizeof(*start), profile->budget);
    vec_free(sweep.open, sweep.open_capacity, sizeof(*sweep.open), profile->budget);
    vec_free(sweep.nodes, sweep.node_capacity, sizeof(*sweep.nodes), profile->budget);
    return ok;
}
