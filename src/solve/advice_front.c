#include <stdlib.h>

#include "solve/advice.h"

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

void front_advice_release(struct front_advice *advice, struct budget *budget)
{
    free(advice->knees);
    front_release(&advice->front, budget);
}
