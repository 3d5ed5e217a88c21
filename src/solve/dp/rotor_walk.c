#include "solve/dp/rotor_batch.h"

#include <stdlib.h>

/* A task that remains: layers i..j in m slots, or, with `backward`, the backward of layer i. */
struct task {
    int32_t i, j, m;
    unsigned depth; /* number of enclosing segments */
    bool backward;
};

struct walk {
    const struct cost_problem *problem;
    const struct cost_table *table;
    struct schedule *schedule;
    struct placement *segments;
    struct task *tasks; /* a stack */
    size_t count, capacity;
    struct budget *budget;
};

static bool push(struct walk *walk, struct task task, struct error *err)
{
    if (!vec_grow((void **)&walk->tasks, &walk->capacity, walk->count + 1, sizeof(task),
                  walk->budget, err))
        return false;
    walk->tasks[walk->count++] = task;
    return true;
}

static bool can_keep(const struct walk *walk, struct task task, int32_t value)
{
    const struct cost_problem *p = walk->problem;
    int32_t i = task.i, held = p->xbar[i] + p->x[task.j + 1] + p->ftmp[i];
    if (task.m < held || task.m < p->xbar[i] + p->x[i + 1] + p->btmp[i])
        return false;
    if (i == task.j)
        return true;
    int32_t after = cost_at(walk->table, i + 1, task.j, task.m - p->xbar[i]);
    return after < COST_INFINITE && after - p->forward[i] == value;
}

/* The first split that gives the cell's value. There is one if the first layer cannot be kept. Each
 * of the two terms includes P(i), so it is subtracted once. */
static int32_t first_split(const struct walk *walk, struct task task, int32_t value)
{
    const struct cost_problem *p = walk->problem;
    int64_t before = 0;
    for (int32_t q = 0; q < task.i; q++)
        before += p->forward[q];
    for (int32_t s = task.i + 1; s < task.j; s++) {
        int64_t left = cost_at(walk->table, task.i, s - 1, task.m);
        int64_t right = cost_at(walk->table, s, task.j, task.m - p->x[s]);
        if (left + right - before == value)
            return s;
    }
    return task.j;
}

static bool add_segment(struct walk *walk, struct task task, int32_t end, struct error *err)
{
    if (!placement_add(walk->segments, (size_t)task.i, (size_t)end, walk->budget, err))
        return false;
    walk->segments->segments[walk->segments->count - 1].depth = task.depth;
    return true;
}

static int compare_segments(const void *a, const void *b)
{
    const struct wrapped *p = a, *q = b;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    return (p->depth > q->depth) - (p->depth < q->depth);
}

static bool run(struct walk *walk, struct task task, struct error *err)
{
    const struct cost_problem *p = walk->problem;
    struct schedule *schedule = walk->schedule;
    if (task.backward)
        return schedule_add(schedule, RUN_BACKWARD, (size_t)task.i, walk->budget, err);
    int32_t value = cost_at(walk->table, task.i, task.j, task.m);
    if (can_keep(walk, task, value)) {
        struct task back = {.i = task.i, .backward = true};
        struct task rest = {
            .i = task.i + 1, .j = task.j, .m = task.m - p->xbar[task.i], .depth = task.depth};
        return schedule_add(schedule, RUN_AND_KEEP, (size_t)task.i, walk->budget, err) &&
               push(walk, back, err) && (task.i == task.j || push(walk, rest, err));
    }
    int32_t s = first_split(walk, task, value);
    struct task left = {.i = task.i, .j = s - 1, .m = task.m, .depth = task.depth + 1};
    struct task right = {.i = s, .j = task.j, .m = task.m - p->x[s], .depth = task.depth};
    return add_segment(walk, task, s, err) &&
           schedule_run(schedule, (size_t)task.i, (size_t)s, true, walk->budget, err) &&
           push(walk, left, err) && push(walk, right, err);
}

bool rotor_walk(const struct cost_problem *problem, const struct cost_table *table, int32_t slots,
                struct schedule *schedule, struct placement *segments, struct budget *budget,
                struct error *err)
{
    struct walk walk = {.problem = problem,
                        .table = table,
                        .schedule = schedule,
                        .segments = segments,
                        .budget = budget};
    bool ok = push(&walk, (struct task){.j = problem->layers - 1, .m = slots}, err);
    while (ok && walk.count > 0)
        ok = run(&walk, walk.tasks[--walk.count], err);
    if (ok && segments->count > 0)
        qsort(segments->segments, segments->count, sizeof(struct wrapped), compare_segments);
    vec_free(walk.tasks, walk.capacity, sizeof(*walk.tasks), budget);
    return ok;
}
