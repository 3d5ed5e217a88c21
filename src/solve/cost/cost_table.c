#include "solve/cost/cost_table.h"

#include <stdlib.h>

#include "base/pages.h"

static bool check_size(int32_t size, const char *what, int32_t layer, struct error *err)
{
    if (size < 0)
        return error_set(err, STATUS_BAD_INPUT, "layer %d: negative %s", layer, what);
    if (size > COST_MAX_SLOTS)
        return error_set(err, STATUS_LIMIT, "layer %d: %s is more than %d slots", layer, what,
                         COST_MAX_SLOTS);
    return true;
}

static bool check_layer(const struct cost_problem *problem, int32_t i, struct error *err)
{
    if (!check_size(problem->x[i], "input", i, err) ||
        !check_size(problem->x[i + 1], "output", i, err) ||
        !check_size(problem->xbar[i], "what it keeps", i, err) ||
        !check_size(problem->ftmp[i], "memory of its forward", i, err) ||
        !check_size(problem->btmp[i], "memory of its backward", i, err))
        return false;
    if (problem->forward[i] < 0)
        return error_set(err, STATUS_BAD_INPUT, "layer %d: negative time", i);
    if (problem->xbar[i] < problem->x[i + 1])
        return error_set(err, STATUS_BAD_INPUT, "layer %d: keeps less than its output", i);
    return true;
}

bool cost_problem_check(const struct cost_problem *problem, struct error *err)
{
    if (problem->layers < 1 || problem->slots < 0)
        return error_set(err, STATUS_BAD_INPUT, "a chain of %d layers and %d slots",
                         problem->layers, problem->slots);
    if (problem->layers > COST_MAX_LAYERS || problem->slots > COST_MAX_SLOTS)
        return error_set(err, STATUS_LIMIT, "%d layers and %d slots are more than %d and %d",
                         problem->layers, problem->slots, COST_MAX_LAYERS, COST_MAX_SLOTS);
    int64_t time = 0;
    for (int32_t i = 0; i < problem->layers; i++) {
        if (!check_layer(problem, i, err))
            return false;
        time += problem->forward[i];
    }
    if (time >= COST_INFINITE / problem->layers)
        return error_set(err, STATUS_LIMIT, "%lld time units are too many for %d layers",
                         (long long)time, problem->layers);
    return true;
}

static size_t row_room(const struct cost_problem *problem)
{
    return ((size_t)problem->slots + COST_ROOM) / COST_ROOM * COST_ROOM;
}

size_t cost_table_bytes(const struct cost_problem *problem, enum cost_layout layout)
{
    size_t layers = (size_t)problem->layers, rows = layers * (layers + 1) / 2, bytes;
    if (layout == COST_PANELS) {
        size_t strips = (layers + COST_STRIP - 1) / COST_STRIP;
        rows = strips * (strips + 1) / 2 * COST_STRIP * COST_STRIP;
    }
    if (__builtin_mul_overflow(rows, row_room(problem) * sizeof(int32_t), &bytes))
        return 0;
    return bytes;
}

/* Provides memory of `room` bytes, reusing the table's memory if it suffices. */
static bool make_room(struct cost_table *table, size_t room, struct budget *budget,
                      struct error *err)
{
    if (table->cells && table->room >= room)
        return true;
    cost_table_release(table, budget);
    if (!budget_take(budget, room, err))
        return false;
    table->cells = pages_aligned(room);
    if (!table->cells) {
        budget_give(budget, room);
        return error_out_of_memory(err);
    }
    table->room = room;
    return true;
}

bool cost_table_create(struct cost_table *table, const struct cost_problem *problem,
                       enum cost_layout layout, size_t beside, struct budget *budget,
                       struct error *err)
{
    size_t bytes = cost_table_bytes(problem, layout), room;
    if (bytes == 0 || __builtin_add_overflow(bytes, beside, &room)) {
        cost_table_release(table, budget);
        return error_set(err, STATUS_LIMIT, "the cost table is too large");
    }
    if (!make_room(table, room, budget, err))
        return false;
    table->layout = layout;
    table->layers = problem->layers;
    table->slots = problem->slots;
    table->stride = row_room(problem);
    table->bytes = bytes;
    return true;
}

void cost_table_release(struct cost_table *table, struct budget *budget)
{
    if (!table->cells)
        return;
    free(table->cells);
    budget_give(budget, table->room);
    *table = (struct cost_table){0};
}
