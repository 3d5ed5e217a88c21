#include "solve/advice/advice.h"

/* FairScale's measure on the pieces of the chain, with one part more than `checkpoints`. */
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
        ok = placement_add(placement, from, to, budget, err);
        from = to;
    }
    sum_release(&answer, budget);
    return ok;
}

/* Releases the placement, whatever comes of it. */
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
    if (!placement_even(&even, chain->layers, budget, err) ||
        !place_by_sum(chain, even.count - 1, &sum, budget, err)) {
        placement_release(&even, budget);
        placement_release(&sum, budget);
        return false;
    }
    bool ok = replay(chain, &even, "sqrt", &points[1], budget, err);
    ok = replay(chain, &sum, "fairscale", &points[2], budget, err) && ok;
    return replay(chain, &none, "none", &points[0], budget, err) && ok;
}
