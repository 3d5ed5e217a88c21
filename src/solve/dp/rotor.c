#include "solve/dp/rotor.h"

#include "solve/dp/rotor_batch.h"

#define MOST_TRIES 64 /* schedules replayed for each budget */

/* Tries schedules with fewer and fewer slots. The first that fits is the fastest. */
static bool choose(const struct rotor_batch *batch, size_t k, int64_t bytes,
                   struct rotor_plan *plan, struct error *err)
{
    const struct rotor_problem *scaled = &batch->scaled[k];
    int32_t last = scaled->problem.layers - 1;
    int32_t step = (scaled->problem.slots - scaled->within) / MOST_TRIES + 1;
    *plan = (struct rotor_plan){.slot_bytes = scaled->slot_bytes, .exact = scaled->exact};
    for (int32_t m = scaled->problem.slots;; m -= step) {
        m = m < scaled->within ? scaled->within : m;
        if (cost_at(&batch->tables[k], 0, last, m) >= COST_INFINITE)
            break;
        if (!rotor_batch_plan(batch, k, m, plan, err))
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
    struct rotor_batch batch = {.chain = chain, .count = count, .budget = budget};
    size_t made = 0;
    bool ok = rotor_batch_prepare(&batch, budgets, options->slots, err) &&
              rotor_batch_begin(&batch, options, report, err);
    while (ok && made < count) {
        ok = rotor_batch_fill(&batch, made, err) &&
             choose(&batch, made, budgets[made], &plans[made], err);
        made += ok;
    }
    while (!ok && made > 0)
        rotor_plan_release(&plans[--made], budget);
    rotor_batch_release(&batch);
    return ok;
}

/* The search for the least memory, and for the part of the front that one level of checkpoints does
 * not reach. */

#define MOST_REFINEMENT 4   /* rounds of the search for the least budget */
#define ENOUGH_SLOTS    128 /* for any schedule; with fewer, slots are added */
#define FRONT_STEPS     2e9 /* a fraction of a second */
#define FRONT_SLOTS     500
#define FRONT_LEAST     100

/* Finds the plan with the least peak within `bytes`. Leaves the plan unchanged if there is none.
 * `table` is zeros, or the table of the previous call. */
static bool least_within(const struct chain *chain, int64_t bytes,
                         const struct rotor_options *options, struct cost_table *table,
                         struct rotor_plan *plan, struct rotor_report *report,
                         struct budget *budget, struct error *err)
{
    struct rotor_batch batch = {
        .chain = chain, .count = 1, .budget = budget, .reusable = table->room};
    bool ok = rotor_batch_prepare(&batch, &bytes, options->slots, err);
    if (ok) {
        batch.tables[0] = *table;
        ok = rotor_batch_begin(&batch, options, report, err) && rotor_batch_fill(&batch, 0, err);
        *table = batch.tables[0];
    }
    if (ok) {
        int32_t m = 0, last = (int32_t)chain->layers - 1, most = batch.problems[0].slots;
        while (m <= most && cost_at(&batch.tables[0], 0, last, m) >= COST_INFINITE)
            m++;
        ok = m > most || rotor_batch_plan(&batch, 0, m, plan, err);
    }
    if (batch.tables)
        batch.tables[0] = (struct cost_table){0};
    rotor_batch_release(&batch);
    return ok;
}

bool rotor_least(const struct chain *chain, const struct rotor_options *options,
                 struct rotor_plan *plan, struct rotor_report *report, struct budget *budget,
                 struct error *err)
{
    int64_t bytes = 0;
    struct rotor_plan best = {0};
    struct rotor_options tried = *options;
    struct cost_table table = {0};
    bool ok = true;
    for (size_t i = 0; i < chain->layers; i++)
        bytes += chain->xbar[i] + chain->x[i + 1] + chain->ftmp[i] + chain->btmp[i];
    for (int round = 0; round < MOST_REFINEMENT; round++) {
        struct rotor_plan found = {0};
        ok = least_within(chain, bytes, &tried, &table, &found, report, budget, err);
        if (ok && !found.feasible && tried.slots > 0 && tried.slots < ENOUGH_SLOTS) {
            tried.slots *= 2;
            round = -1;
            continue;
        }
        if (!ok || !found.feasible || (best.feasible && found.peak_bytes >= best.peak_bytes)) {
            rotor_plan_release(&found, budget);
            break;
        }
        rotor_plan_release(&best, budget);
        best = found;
        bytes = best.peak_bytes;
        if (best.exact)
            break;
    }
    cost_table_release(&table, budget);
    if (ok)
        *plan = best;
    else
        rotor_plan_release(&best, budget);
    return ok;
}

/* The number of slots for a front; 0: too few to be useful. */
static size_t front_slots(const struct chain *chain)
{
    double n = (double)chain->layers, slots = FRONT_STEPS / (n * n * n / 6 + 1);
    if (slots < FRONT_LEAST || chain->layers > ROTOR_MOST_LAYERS)
        return 0;
    return slots > FRONT_SLOTS ? FRONT_SLOTS : (size_t)slots;
}

static int32_t cost_of(const struct rotor_batch *batch, int32_t m)
{
    return cost_at(&batch->tables[0], 0, batch->problems[0].layers - 1, m);
}

/* Counts the slot numbers at which the cost changes, and finds the first of them from the
 * `number`th on. */
static size_t steps_of(const struct rotor_batch *batch, size_t number, int32_t *at)
{
    size_t count = 0;
    int32_t before = COST_INFINITE;
    for (int32_t m = 0; m <= batch->problems[0].slots; m++) {
        int32_t cost = cost_of(batch, m);
        if (cost < before && count++ == number)
            *at = m;
        before = cost;
    }
    return count;
}

/* Adds a point if it takes less memory than `below`, and less time than the previous point. */
static bool add_point(const struct rotor_batch *batch, int32_t m, int64_t below,
                      struct rotor_front *front, struct error *err)
{
    struct rotor_plan plan = {0};
    if (!rotor_batch_plan(batch, 0, m, &plan, err))
        return false;
    struct rotor_point point = {plan.peak_bytes, plan.extra_time, plan.segments.count};
    rotor_plan_release(&plan, batch->budget);
    if (point.peak_bytes >= below)
        return true;
    while (front->count > 0 && front->points[front->count - 1].peak_bytes >= point.peak_bytes)
        front->count--;
    if (front->count == 0 || point.extra_time < front->points[front->count - 1].extra_time)
        front->points[front->count++] = point;
    return true;
}

static bool add_points(const struct rotor_batch *batch, int64_t below, struct rotor_front *front,
                       struct error *err)
{
    int32_t m = 0;
    size_t steps = steps_of(batch, 0, &m), shown = steps;
    if (shown > ROTOR_FRONT_POINTS)
        shown = ROTOR_FRONT_POINTS;
    for (size_t k = 0; k < shown; k++) {
        steps_of(batch, k * steps / shown, &m);
        if (!add_point(batch, m, below, front, err))
            return false;
    }
    return true;
}

bool rotor_front_find(const struct chain *chain, int64_t below, unsigned threads,
                      struct rotor_front *front, struct budget *budget, struct error *err)
{
    struct rotor_batch batch = {.chain = chain, .count = 1, .budget = budget};
    struct rotor_options options = {
        .backend = &backend_cpu, .threads = threads, .slots = front_slots(chain)};
    struct rotor_report report;
    *front = (struct rotor_front){0};
    if (options.slots == 0)
        return true;
    bool ok = rotor_batch_prepare(&batch, &below, options.slots, err) &&
              (batch.limit != ROTOR_NO_LIMIT ||
               (rotor_batch_begin(&batch, &options, &report, err) &&
                rotor_batch_fill(&batch, 0, err) && add_points(&batch, below, front, err)));
    rotor_batch_release(&batch);
    if (ok || err->status != STATUS_LIMIT)
        return ok;
    *front = (struct rotor_front){0};
    return true;
}
