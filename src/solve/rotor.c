#include "solve/rotor.h"

#include <stdlib.h>

#include "solve/rotor_problem.h"
#include "solve/rotor_walk.h"

#define MOST_SLOTS      500
#define LEAST_SLOTS     100
#define STEPS           2e10 /* a second or so of one CPU thread */
#define MOST_STEPS      1e12
#define MOST_TRIES      64 /* schedules replayed for a budget */
#define MOST_REFINEMENT 4  /* rounds of looking for the least budget */

struct batch {
    const struct chain *chain;
    struct rotor_problem *scaled;
    struct cost_problem *problems;
    struct cost_table *tables;
    size_t count, bytes;
    struct budget *budget;
};

static size_t affordable_slots(size_t layers, size_t count)
{
    double n = (double)layers, slots = STEPS / (n * n * n / 6 * (double)count + 1);
    return slots > MOST_SLOTS ? MOST_SLOTS : slots < LEAST_SLOTS ? LEAST_SLOTS : (size_t)slots;
}

static bool allocate(struct batch *batch, struct error *err)
{
    size_t item = sizeof(*batch->scaled) + sizeof(*batch->problems) + sizeof(*batch->tables);
    if (__builtin_mul_overflow(item, batch->count, &batch->bytes))
        return error_set(err, STATUS_LIMIT, "%zu budgets are too many", batch->count);
    if (!budget_take(batch->budget, batch->bytes, err))
        return false;
    batch->scaled = calloc(1, batch->bytes);
    if (!batch->scaled) {
        budget_give(batch->budget, batch->bytes);
        return error_set(err, STATUS_LIMIT, "out of memory");
    }
    batch->problems = (struct cost_problem *)(batch->scaled + batch->count);
    batch->tables = (struct cost_table *)(batch->problems + batch->count);
    return true;
}

static void release(struct batch *batch)
{
    for (size_t k = 0; k < batch->count && batch->scaled; k++) {
        cost_table_release(&batch->tables[k], batch->budget);
        rotor_problem_release(&batch->scaled[k], batch->budget);
    }
    if (batch->scaled)
        budget_give(batch->budget, batch->bytes);
    free(batch->scaled);
}

static bool fill(struct batch *batch, const struct rotor_options *options,
                 struct rotor_report *report, struct error *err)
{
    struct backend_options run = {.threads = options->threads, .budget = batch->budget};
    const struct backend *backend = options->backend;
    for (size_t k = 0; k < batch->count; k++)
        if (!cost_problem_check(&batch->problems[k], err))
            return false;
    if (!backend)
        backend = backend_choose(batch->problems, batch->count, options->threads);
    *report = (struct rotor_report){.backend = backend};
    if (backend->solve(batch->problems, batch->tables, batch->count, &run, err))
        return true;
    if (backend == &backend_cpu)
        return false;
    *report = (struct rotor_report){.backend = &backend_cpu};
    error_set(&report->device_error, err->status, "%s: %.200s", backend->name, err->text);
    return backend_cpu.solve(batch->problems, batch->tables, batch->count, &run, err);
}

static bool prepare(struct batch *batch, const int64_t *budgets, size_t slots, struct error *err)
{
    if (batch->chain->layers > ROTOR_MOST_LAYERS)
        return error_set(err, STATUS_LIMIT, "%zu layers are more than %d", batch->chain->layers,
                         ROTOR_MOST_LAYERS);
    if (!allocate(batch, err))
        return false;
    double n = (double)batch->chain->layers;
    if (slots == 0)
        slots = affordable_slots(batch->chain->layers, batch->count);
    if (n * n * n / 6 * (double)slots * (double)batch->count > MOST_STEPS)
        return error_set(
            err, STATUS_LIMIT,
            "%.0f layers in %zu slots would take minutes: fewer slots, or coarser cuts", n, slots);
    for (size_t k = 0; k < batch->count; k++) {
        if (!rotor_problem_create(&batch->scaled[k], batch->chain, budgets[k], slots, batch->budget,
                                  err))
            return false;
        batch->problems[k] = batch->scaled[k].problem;
    }
    return true;
}

/* The schedule of problem k with m slots, replayed. */
static bool try_slots(const struct batch *batch, size_t k, int32_t m, struct rotor_plan *plan,
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

/* From the most slots down: the first schedule that fits is the fastest. */
static bool choose(const struct batch *batch, size_t k, int64_t bytes, struct rotor_plan *plan,
                   struct error *err)
{
    const struct rotor_problem *scaled = &batch->scaled[k];
    int32_t last = scaled->problem.layers - 1;
    int32_t step = (scaled->problem.slots - scaled->within) / MOST_TRIES + 1;
    *plan = (struct rotor_plan){.slot_bytes = scaled->slot_bytes, .exact = scaled->exact};
    for (int32_t m = scaled->problem.slots;; m -= step) {
        m = m < scaled->within ? scaled->within : m;
        if (cost_at(&batch->tables[k], 0, last, m) >= COST_INFINITE)
            break;
        if (!try_slots(batch, k, m, plan, err))
            return false;
        if (plan->peak_bytes <= bytes)
            return true;
        if (m == scaled->within)
            return error_set(err, STATUS_IO, "a schedule for %d slots takes more", m);
    }
    rotor_plan_release(plan, batch->budget);
    return true;
}

bool rotor_solve(const struct chain *chain, const int64_t *budgets, size_t count,
                 const struct rotor_options *options, struct rotor_plan *plans,
                 struct rotor_report *report, struct budget *budget, struct error *err)
{
    struct batch batch = {.chain = chain, .count = count, .budget = budget};
    size_t made = 0;
    bool ok = prepare(&batch, budgets, options->slots, err) && fill(&batch, options, report, err);
    while (ok && made < count) {
        ok = choose(&batch, made, budgets[made], &plans[made], err);
        made += ok;
    }
    while (!ok && made > 0)
        rotor_plan_release(&plans[--made], budget);
    release(&batch);
    return ok;
}

/* The least plan that a budget of `bytes` shows; plan untouched where none does. */
static bool least_within(const struct chain *chain, int64_t bytes,
                         const struct rotor_options *options, struct rotor_plan *plan,
                         struct rotor_report *report, struct budget *budget, struct error *err)
{
    struct batch batch = {.chain = chain, .count = 1, .budget = budget};
    bool ok = prepare(&batch, &bytes, options->slots, err) && fill(&batch, options, report, err);
    if (ok) {
        int32_t m = 0, last = (int32_t)chain->layers - 1, most = batch.problems[0].slots;
        while (m <= most && cost_at(&batch.tables[0], 0, last, m) >= COST_INFINITE)
            m++;
        ok = m > most || try_slots(&batch, 0, m, plan, err);
    }
    release(&batch);
    return ok;
}

bool rotor_least(const struct chain *chain, const struct rotor_options *options,
                 struct rotor_plan *plan, struct rotor_report *report, struct budget *budget,
                 struct error *err)
{
    int64_t bytes = 0;
    struct rotor_plan best = {0};
    for (size_t i = 0; i < chain->layers; i++)
        bytes += chain->xbar[i] + chain->x[i + 1] + chain->ftmp[i] + chain->btmp[i];
    for (int round = 0; round < MOST_REFINEMENT; round++) {
        struct rotor_plan found = {0};
        if (!least_within(chain, bytes, options, &found, report, budget, err)) {
            rotor_plan_release(&best, budget);
            return false;
        }
        if (!found.feasible || (best.feasible && found.peak_bytes >= best.peak_bytes)) {
            rotor_plan_release(&found, budget);
            break;
        }
        rotor_plan_release(&best, budget);
        best = found;
        bytes = best.peak_bytes;
        if (best.exact)
            break;
    }
    *plan = best;
    return true;
}

void rotor_plan_release(struct rotor_plan *plan, struct budget *budget)
{
    schedule_release(&plan->schedule, budget);
    placement_release(&plan->segments, budget);
    *plan = (struct rotor_plan){.slot_bytes = plan->slot_bytes, .exact = plan->exact};
}
