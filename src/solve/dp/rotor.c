#include "solve/dp/rotor.h"

#include "solve/dp/rotor_batch.h"

#define MOST_TRIES 64 /* schedules replayed for a budget */

/* From the most slots down: the first schedule that fits is the fastest. */
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

void rotor_plan_release(struct rotor_plan *plan, struct budget *budget)
{
    schedule_release(&plan->schedule, budget);
    placement_release(&plan->segments, budget);
    *plan = (struct rotor_plan){.slot_bytes = plan->slot_bytes, .exact = plan->exact};
}
