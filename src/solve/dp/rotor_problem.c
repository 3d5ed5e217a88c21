#include "solve/dp/rotor_problem.h"

#include <stdlib.h>

#define ARRAYS      5
#define SPARE_SHARE 8 /* slots searched beyond the budget: one in so many */

/* Of all sizes; 0 where all are. */
static int64_t common_unit(const struct chain *chain)
{
    int64_t unit = chain->x[chain->layers];
    for (size_t i = 0; i < chain->layers; i++) {
        unit = common_divisor(chain->x[i], unit);
        unit = common_divisor(chain->xbar[i], unit);
        unit = common_divisor(chain->ftmp[i], unit);
        unit = common_divisor(chain->btmp[i], unit);
    }
    return unit;
}

size_t rotor_problem_slots(size_t slots)
{
    return slots + slots / SPARE_SHARE;
}

static void choose_slot(struct rotor_problem *made, const struct chain *chain, int64_t bytes,
                        int64_t slots)
{
    int64_t unit = common_unit(chain);
    made->exact = unit == 0 || bytes / unit <= slots;
    made->slot_bytes = unit == 0 ? 1 : unit;
    if (!made->exact)
        made->slot_bytes = bytes / slots + (bytes % slots != 0);
    int64_t within = bytes / made->slot_bytes;
    made->within = unit == 0 ? 0 : (int32_t)within;
    made->problem.slots =
        made->exact ? made->within : (int32_t)rotor_problem_slots((size_t)made->within);
}

static int32_t to_slots(const struct rotor_problem *made, int64_t size)
{
    int64_t slots = size / made->slot_bytes + (size % made->slot_bytes != 0);
    return slots > made->problem.slots ? made->problem.slots + 1 : (int32_t)slots;
}

/* All units together stay below COST_INFINITE / layers. */
static void set_times(int32_t *units, const struct chain *chain)
{
    int64_t whole = chain_forward_time(chain), done = 0;
    int64_t most = COST_INFINITE / (int64_t)chain->layers - 1;
    int64_t before = 0;
    for (size_t i = 0; i < chain->layers; i++) {
        done += chain->forward[i];
        int64_t scaled = done;
        if (whole > most)
            scaled = (int64_t)((double)done / (double)whole * (double)most);
        units[i] = (int32_t)(scaled - before);
        before = scaled;
    }
}

bool rotor_problem_create(struct rotor_problem *made, const struct chain *chain, int64_t bytes,
                          size_t slots, struct budget *budget, struct error *err)
{
    size_t n = chain->layers, size = (ARRAYS * n + 1) * sizeof(int32_t);
    if (n > COST_MAX_LAYERS || slots > ROTOR_MOST_SLOTS)
        return error_set(err, STATUS_LIMIT, "%zu layers and %zu slots are too many", n, slots);
    if (!budget_take(budget, size, err))
        return false;
    struct rotor_problem problem = {.arrays = malloc(size), .bytes = size};
    if (!problem.arrays) {
        budget_give(budget, size);
        return error_set(err, STATUS_LIMIT, "out of memory");
    }
    choose_slot(&problem, chain, bytes, (int64_t)slots);
    int32_t *x = problem.arrays, *xbar = x + n + 1, *ftmp = xbar + n, *btmp = ftmp + n;
    int32_t *forward = btmp + n;
    for (size_t i = 0; i <= n; i++)
        x[i] = to_slots(&problem, chain->x[i]);
    for (size_t i = 0; i < n; i++) {
        xbar[i] = to_slots(&problem, chain->xbar[i]);
        ftmp[i] = to_slots(&problem, chain->ftmp[i]);
        btmp[i] = to_slots(&problem, chain->btmp[i]);
    }
    set_times(forward, chain);
    problem.problem = (struct cost_problem){.layers = (int32_t)n,
                                            .slots = problem.problem.slots,
                                            .x = x,
                                            .xbar = xbar,
                                            .ftmp = ftmp,
                                            .btmp = btmp,
                                            .forward = forward};
    *made = problem;
    return true;
}

void rotor_problem_release(struct rotor_problem *problem, struct budget *budget)
{
    if (!problem->arrays)
        return;
    free(problem->arrays);
    budget_give(budget, problem->bytes);
    *problem = (struct rotor_problem){0};
}
