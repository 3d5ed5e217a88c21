#include "solve/dp/rotor_batch.h"

#include <stdlib.h>

#include "solve/chain/segment_cost.h"

#define ARRAYS           5
#define ROTOR_MOST_SLOTS (COST_MAX_SLOTS / 2)
#define SPARE_SHARE      8 /* the share of extra slots beyond the budget: 1/SPARE_SHARE */

/* The greatest common divisor of all sizes; 0 if all are 0. */
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

static size_t rotor_problem_slots(size_t slots)
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

/* Converts times to units, whose sum stays below COST_INFINITE / layers. */
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

static bool rotor_problem_create(struct rotor_problem *made, const struct chain *chain,
                                 int64_t bytes, size_t slots, struct budget *budget,
                                 struct error *err)
{
    size_t n = chain->layers, size = (ARRAYS * n + 1) * sizeof(int32_t);
    if (n > COST_MAX_LAYERS || slots > ROTOR_MOST_SLOTS)
        return error_set(err, STATUS_LIMIT, "%zu layers and %zu slots are too many", n, slots);
    if (!budget_take(budget, size, err))
        return false;
    struct rotor_problem problem = {.arrays = malloc(size), .bytes = size};
    if (!problem.arrays) {
        budget_give(budget, size);
        return error_out_of_memory(err);
    }
    choose_slot(&problem, chain, bytes, (int64_t)slots);
    int32_t *x = problem.arrays, *xbar = x + n + 1, *ftmp = xbar + n, *btmp = ftmp + n;
    int32_t *forward = btmp + n;
    for (size_t i = 0; i <= n; i++)
        x[i] = to_slots(&problem, chain->x[i]);
    for (size_t i = 0; i < n; i++) {
        /* the recursion holds an output as part of what its layer keeps */
        xbar[i] = to_slots(&problem, larger(chain->xbar[i], chain->x[i + 1]));
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

static void rotor_problem_release(struct rotor_problem *problem, struct budget *budget)
{
    if (!problem->arrays)
        return;
    free(problem->arrays);
    budget_give(budget, problem->bytes);
    *problem = (struct rotor_problem){0};
}

#define MOST_SLOTS  500
#define LEAST_SLOTS 100
#define STEPS       2e10 /* about a second of one CPU thread */
#define MOST_STEPS  1e12 /* a minute of one CPU thread */
#define SPARE       8    /* the share of memory reserved for plans: 1/SPARE */

static size_t affordable_slots(size_t layers, size_t count)
{
    double n = (double)layers, slots = STEPS / (n * n * n / 6 * (double)count + 1);
    return slots > MOST_SLOTS ? MOST_SLOTS : slots < LEAST_SLOTS ? LEAST_SLOTS : (size_t)slots;
}

static bool allocate(struct rotor_batch *batch, struct error *err)
{
    size_t item = sizeof(*batch->scaled) + sizeof(*batch->problems) + sizeof(*batch->tables);
    if (__builtin_mul_overflow(item, batch->count, &batch->bytes))
        return error_set(err, STATUS_LIMIT, "%zu budgets are too many", batch->count);
    if (!budget_take(batch->budget, batch->bytes, err))
        return false;
    batch->scaled = calloc(1, batch->bytes);
    if (!batch->scaled) {
        budget_give(batch->budget, batch->bytes);
        return error_out_of_memory(err);
    }
    batch->problems = (struct cost_problem *)(batch->scaled + batch->count);
    batch->tables = (struct cost_table *)(batch->problems + batch->count);
    return true;
}

static void release_problems(struct rotor_batch *batch)
{
    for (size_t k = 0; k < batch->count; k++)
        rotor_problem_release(&batch->scaled[k], batch->budget);
}

void rotor_batch_release(struct rotor_batch *batch)
{
    if (!batch->scaled)
        return;
    for (size_t k = 0; k < batch->count; k++)
        cost_table_release(&batch->tables[k], batch->budget);
    release_problems(batch);
    budget_give(batch->budget, batch->bytes);
    free(batch->scaled);
}

static bool create_problems(struct rotor_batch *batch, const int64_t *budgets, struct error *err)
{
    for (size_t k = 0; k < batch->count; k++) {
        if (!rotor_problem_create(&batch->scaled[k], batch->chain, budgets[k], batch->slots,
                                  batch->budget, err))
            return false;
        batch->problems[k] = batch->scaled[k].problem;
    }
    return true;
}

/* The most slots that a table can have in `bytes`. */
static size_t slots_within(size_t layers, size_t bytes)
{
    size_t low = 1, high = ROTOR_MOST_SLOTS;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (backend_cpu_bytes(layers, rotor_problem_slots(middle)) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The largest number of slots, at least 1, with which the CPU can solve the batch in MOST_STEPS and
 * the remaining memory. *limit tells which of the two is the bound. */
static size_t most_slots(const struct rotor_batch *batch, enum rotor_limit *limit)
{
    double n = (double)batch->chain->layers;
    double by_time = MOST_STEPS / (n * n * n / 6 * (double)batch->count);
    size_t left = batch->budget->limit - batch->budget->used + batch->reusable;
    size_t by_memory = slots_within(batch->chain->layers, left - left / SPARE);
    *limit = by_time < (double)by_memory ? ROTOR_LIMIT_TIME : ROTOR_LIMIT_MEMORY;
    return *limit == ROTOR_LIMIT_MEMORY ? by_memory : by_time < 1 ? 1 : (size_t)by_time;
}

/* True if no problem has more slots than it would have with `slots`. */
static bool fits(const struct rotor_batch *batch, size_t slots)
{
    for (size_t k = 0; k < batch->count; k++)
        if ((size_t)batch->problems[k].slots > rotor_problem_slots(slots))
            return false;
    return true;
}

bool rotor_batch_begin(struct rotor_batch *batch, const struct rotor_options *options,
                       struct rotor_report *report, struct error *err)
{
    struct backend_options run = {.threads = options->threads, .budget = batch->budget};
    const struct backend *backend = options->backend;
    for (size_t k = 0; k < batch->count; k++)
        if (!cost_problem_check(&batch->problems[k], err))
            return false;
    if (!backend)
        backend = backend_choose(batch->problems, batch->count, options->threads);
    *report =
        (struct rotor_report){.backend = backend, .limit = batch->limit, .slots = batch->slots};
    batch->threads = options->threads;
    batch->on_device = backend != &backend_cpu &&
                       backend->solve(batch->problems, batch->tables, batch->count, &run, err);
    if (backend != &backend_cpu && !batch->on_device) {
        report->backend = &backend_cpu;
        error_set(&report->device_error, err->status, "%s: %.200s", backend->name, err->text);
    }
    return true;
}

bool rotor_batch_fill(struct rotor_batch *batch, size_t k, struct error *err)
{
    struct backend_options run = {.threads = batch->threads, .budget = batch->budget};
    if (batch->on_device)
        return true;
    if (k > 0) {
        batch->tables[k] = batch->tables[k - 1];
        batch->tables[k - 1] = (struct cost_table){0};
    }
    return backend_cpu.solve(&batch->problems[k], &batch->tables[k], 1, &run, err);
}

bool rotor_batch_prepare(struct rotor_batch *batch, const int64_t *budgets, size_t slots,
                         struct error *err)
{
    if (batch->chain->layers > ROTOR_MOST_LAYERS)
        return error_set(err, STATUS_LIMIT, "%zu layers are more than %d", batch->chain->layers,
                         ROTOR_MOST_LAYERS);
    if (!allocate(batch, err))
        return false;
    batch->slots = slots > 0 ? slots : affordable_slots(batch->chain->layers, batch->count);
    if (!create_problems(batch, budgets, err))
        return false;
    enum rotor_limit limit;
    size_t most = most_slots(batch, &limit);
    if (most >= batch->slots || fits(batch, most))
        return true;
    release_problems(batch);
    batch->slots = most;
    batch->limit = limit;
    return create_problems(batch, budgets, err);
}

bool rotor_batch_plan(const struct rotor_batch *batch, size_t k, int32_t m, struct rotor_plan *plan,
                      struct error *err)
{
    struct replay_outcome outcome;
    struct rotor_plan tried = {.feasible = true,
                               .slot_bytes = batch->scaled[k].slot_bytes,
                               .exact = batch->scaled[k].exact};
    bool ok = rotor_walk(&batch->problems[k], &batch->tables[k], m, &tried.schedule,
                         &tried.segments, batch->budget, err) &&
              schedule_replay(&tried.schedule, batch->chain, batch->budget, &outcome, err);
    if (!ok) {
        rotor_plan_release(&tried, batch->budget);
        return false;
    }
    tried.peak_bytes = outcome.peak_bytes;
    tried.extra_time = outcome.extra_time;
    rotor_plan_release(plan, batch->budget);
    *plan = tried;
    return true;
}

void rotor_plan_release(struct rotor_plan *plan, struct budget *budget)
{
    schedule_release(&plan->schedule, budget);
    placement_release(&plan->segments, budget);
    *plan = (struct rotor_plan){.slot_bytes = plan->slot_bytes, .exact = plan->exact};
}
