#include <stdlib.h>

#include "solve/advice/advice.h"

struct planner {
    const struct problem *problem;
    const struct plan_options *options;
    struct budget *budget;
};

int64_t problem_step_time(const struct problem *problem)
{
    return chain_forward_time(&problem->chain) + problem->backward_time;
}

double problem_cost_share(const struct problem *problem, int64_t time)
{
    int64_t whole =
        problem->timed ? problem_step_time(problem) : chain_forward_time(&problem->chain);
    if (problem->weighed)
        return weighed_share(time);
    return whole > 0 ? (double)time / (double)whole : 0;
}

static bool plan_peak(const struct planner *planner, const struct front *front,
                      struct budget_plan *plan, struct error *err)
{
    plan->is_least = plan->budget_bytes == ADVICE_LEAST;
    if (plan->is_least)
        plan->budget_bytes = front->least.peak_bytes;
    const struct front_point *point =
        plan->is_least ? &front->least : front_within(front, plan->budget_bytes);
    plan->model = PLAN_PEAK;
    plan->feasible = point != NULL;
    plan->least_budget_bytes = front->points[0].peak_bytes;
    if (!point)
        return true;
    plan->peak_bytes = point->peak_bytes;
    plan->extra_time = point->extra_time;
    return front_place(front, point, &plan->segments, planner->budget, err) &&
           placement_schedule(&plan->segments, planner->problem->chain.layers, &plan->schedule,
                              planner->budget, err);
}

static bool plan_all_peak(const struct planner *planner, struct budget_plan *plans, size_t count,
                          struct error *err)
{
    struct front front;
    if (!front_create(&front, &planner->problem->chain, planner->budget, err))
        return false;
    bool ok = !planner->problem->recorded || front_weigh_totals(&front, planner->budget, err);
    for (size_t k = 0; ok && k < count; k++)
        ok = plan_peak(planner, &front, &plans[k], err);
    front_release(&front, planner->budget);
    return ok;
}

static void take_rotor(struct budget_plan *plan, struct rotor_plan *found,
                       const struct backend *backend, struct budget *budget)
{
    budget_plan_release(plan, budget);
    plan->model = PLAN_ROTOR;
    plan->feasible = true;
    plan->peak_bytes = found->peak_bytes;
    plan->extra_time = found->extra_time;
    plan->schedule = found->schedule;
    plan->segments = found->segments;
    plan->slot_bytes = found->slot_bytes;
    plan->exact = found->exact;
    plan->backend = backend;
    *found = (struct rotor_plan){0};
}

/* The least plan is the same for all budgets, so it is only searched for if a budget is too small.
 * It may fit a budget for which rotor_solve() found nothing, because its slots have another size.
 */
static bool find_least(const struct planner *planner, struct budget_plan *plans, size_t count,
                       struct rotor_report *report, struct error *err)
{
    struct rotor_plan least = {0};
    struct rotor_report found = {0};
    bool ok = true, known = false;
    for (size_t k = 0; ok && k < count; k++) {
        struct budget_plan *plan = &plans[k];
        if (plan->feasible)
            continue;
        ok = known || rotor_least(&planner->problem->chain, &planner->options->rotor, &least,
                                  &found, planner->budget, err);
        known = true;
        if (!ok || !least.feasible)
            continue;
        if (least.peak_bytes < plan->least_budget_bytes)
            plan->least_budget_bytes = least.peak_bytes;
        if (least.peak_bytes <= plan->budget_bytes) {
            take_rotor(plan, &least, found.backend, planner->budget);
            known = false;
        }
    }
    rotor_plan_release(&least, planner->budget);
    if (report->limit == ROTOR_NO_LIMIT) {
        report->limit = found.limit;
        report->slots = found.slots;
    }
    return ok;
}

/* True if rotor should plan for a budget that already has a plan with one level of checkpoints. */
static bool is_asked(const struct planner *planner, const struct budget_plan *plan)
{
    return !plan->feasible || !planner->options->any_model;
}

/* A plan with one level is a valid schedule, too, and exact where slots are not: the faster one
 * wins. */
static void take_better(struct budget_plan *plan, struct rotor_plan *found,
                        const struct backend *backend, struct budget *budget)
{
    if (!plan->feasible)
        plan->model = PLAN_ROTOR;
    if (found->feasible && (!plan->feasible || found->extra_time <= plan->extra_time))
        take_rotor(plan, found, backend, budget);
    rotor_plan_release(found, budget);
}

/* Solves all budgets as one batch. */
static bool plan_all_rotor(const struct planner *planner, struct budget_plan *plans, size_t count,
                           struct rotor_report *report, struct error *err)
{
    size_t asked = 0, at = 0;
    for (size_t k = 0; k < count; k++)
        asked += is_asked(planner, &plans[k]);
    if (asked == 0)
        return true;
    size_t bytes = asked * (sizeof(struct rotor_plan) + sizeof(int64_t));
    if (!budget_take(planner->budget, bytes, err))
        return false;
    struct rotor_plan *found = calloc(1, bytes);
    int64_t *budgets = (int64_t *)(found + asked);
    bool ok = found || error_out_of_memory(err);
    for (size_t k = 0; ok && k < count; k++)
        if (is_asked(planner, &plans[k]))
            budgets[at++] = plans[k].budget_bytes;
    ok = ok && rotor_solve(&planner->problem->chain, budgets, asked, &planner->options->rotor,
                           found, report, planner->budget, err);
    at = 0;
    for (size_t k = 0; ok && k < count; k++)
        if (is_asked(planner, &plans[k]))
            take_better(&plans[k], &found[at++], report->backend, planner->budget);
    free(found);
    budget_give(planner->budget, bytes);
    return ok && find_least(planner, plans, count, report, err);
}

static bool verify(const struct planner *planner, struct budget_plan *plan, struct error *err)
{
    struct replay_outcome outcome;
    if (!plan->feasible)
        return true;
    const struct chain *chain = &planner->problem->chain;
    if (!schedule_replay(&plan->schedule, chain, planner->budget, &outcome, err))
        return false;
    outcome.extra_time -= placement_saved_time(&plan->segments, chain);
    plan->total_bytes = planner->problem->before_bytes + outcome.total_bytes;
    if (outcome.peak_bytes > plan->peak_bytes || outcome.extra_time != plan->extra_time ||
        outcome.peak_bytes > plan->budget_bytes)
        return error_set(err, STATUS_IO, "the plan needs %lld bytes instead of the %lld planned",
                         (long long)outcome.peak_bytes, (long long)plan->peak_bytes);
    plan->verified = true;
    return true;
}

bool advise_budgets(const struct problem *problem, const int64_t *budgets, size_t count,
                    const struct plan_options *options, struct budget_plan *plans,
                    struct rotor_report *report, struct budget *budget, struct error *err)
{
    struct planner planner = {problem, options, budget};
    bool rotor = !problem->one_level && (options->any_model || options->model == PLAN_ROTOR);
    *report = (struct rotor_report){0};
    for (size_t k = 0; k < count; k++)
        plans[k] = (struct budget_plan){.budget_bytes = budgets[k]};
    bool ok = plan_all_peak(&planner, plans, count, err) &&
              (!rotor || plan_all_rotor(&planner, plans, count, report, err));
    for (size_t k = 0; ok && (options->verify || problem->recorded) && k < count; k++)
        ok = verify(&planner, &plans[k], err);
    for (size_t k = 0; !ok && k < count; k++)
        budget_plan_release(&plans[k], budget);
    return ok;
}

void budget_plan_release(struct budget_plan *plan, struct budget *budget)
{
    placement_release(&plan->segments, budget);
    schedule_release(&plan->schedule, budget);
}
