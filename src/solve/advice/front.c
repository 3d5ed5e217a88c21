#include <stdlib.h>

#include "solve/advice/advice.h"

bool advise_front(const struct problem *problem, size_t knees, unsigned threads,
                  struct front_advice *advice, struct budget *budget, struct error *err)
{
    struct front_advice made = {0};
    if (!front_create(&made.front, &problem->chain, budget, err))
        return false;
    made.knees = calloc(made.front.count, sizeof(*made.knees));
    bool ok = (made.knees || error_set(err, STATUS_LIMIT, "out of memory")) &&
              advise_comparison(problem, made.comparison, budget, err) &&
              rotor_front_find(&problem->chain, made.front.points[0].peak_bytes, threads,
                               &made.nested, budget, err);
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
