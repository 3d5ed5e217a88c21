#include "solve/advice/advice.h"

#include <stdlib.h>

/* Applies FairScale's measure to the pieces of the chain, with one part more than `checkpoints`. */
static bool place_by_sum(const struct chain *chain, size_t checkpoints, struct placement *placement,
                         struct budget *budget, struct error *err)
{
    struct sum_answer answer;
    if (!sum_place(chain->xbar, chain->layers, checkpoints, &answer, budget, err))
        return false;
    bool ok = true;
    size_t from = 0;
    for (size_t k = 0; ok && k <= answer.count; k++) {
        size_t to = k < answer.count ? answer.cuts[k] : chain->layers;
        ok = placement_add_parts(placement, chain, from, to, budget, err);
        from = to;
    }
    sum_release(&answer, budget);
    return ok;
}

/* Replays a placement, and releases it in all cases. */
static bool replay(const struct chain *chain, struct placement *placement, const char *name,
                   struct comparison_point *point, struct budget *budget, struct error *err)
{
    *point = (struct comparison_point){.name = name, .checkpoints = placement->count};
    bool ok = placement_replay(placement, chain, budget, &point->outcome, err);
    placement_release(placement, budget);
    return ok;
}

bool advise_comparison(const struct problem *problem, struct comparison_point *points,
                       struct budget *budget, struct error *err)
{
    const struct chain *chain = &problem->chain;
    struct placement none = {0}, even = {0}, sum = {0};
    if (!placement_even(&even, chain, budget, err) ||
        !place_by_sum(chain, even.count - 1, &sum, budget, err)) {
        placement_release(&even, budget);
        placement_release(&sum, budget);
        return false;
    }
    bool ok = replay(chain, &even, "sqrt", &points[1], budget, err);
    ok = replay(chain, &sum, "fairscale", &points[2], budget, err) && ok;
    return replay(chain, &none, "none", &points[0], budget, err) && ok;
}

bool advise_front(const struct problem *problem, size_t knees, unsigned threads,
                  struct front_advice *advice, struct budget *budget, struct error *err)
{
    struct front_advice made = {0};
    if (!front_create(&made.front, &problem->chain, budget, err))
        return false;
    bool ok = !problem->recorded || front_weigh_totals(&made.front, budget, err);
    made.knees = ok ? calloc(made.front.count, sizeof(*made.knees)) : NULL;
    ok = ok && (made.knees || error_out_of_memory(err)) &&
         advise_comparison(problem, made.comparison, budget, err) &&
         (problem->one_level || rotor_front_find(&problem->chain, made.front.points[0].peak_bytes,
                                                 threads, &made.nested, budget, err));
    if (ok) {
        front_knees(&made.front, made.knees, knees);
        *advice = made;
    } else {
        front_advice_release(&made, budget);
    }
    return ok;
}

bool advise_nested(const struct problem *problem, unsigned threads, struct front_advice *advice,
                   struct budget *budget, struct error *err)
{
    const struct rotor_point *point = &advice->nested.points[0];
    struct rotor_options options = {.backend = &backend_cpu, .threads = threads};
    struct rotor_report report;
    struct rotor_plan plan = {0};
    advice->nested_holds = false;
    if (advice->nested.count == 0)
        return true;
    if (!rotor_solve(&problem->chain, &point->peak_bytes, 1, &options, &plan, &report, budget, err))
        return err->status == STATUS_LIMIT;
    advice->nested_holds = plan.feasible && plan.peak_bytes <= point->peak_bytes &&
                           plan.extra_time <= point->extra_time;
    rotor_plan_release(&plan, budget);
    return true;
}

void front_advice_release(struct front_advice *advice, struct budget *budget)
{
    free(advice->knees);
    front_release(&advice->front, budget);
}
