#include "solve/chain/placement.h"

bool placement_add(struct placement *placement, size_t first, size_t end, struct budget *budget,
                   struct error *err)
{
    return vec_push(placement->segments, placement->count, placement->capacity, budget, err,
                    (struct wrapped){.first = first, .end = end});
}

void placement_release(struct placement *placement, struct budget *budget)
{
    vec_free(placement->segments, placement->capacity, sizeof(*placement->segments), budget);
    *placement = (struct placement){0};
}

bool placement_even(struct placement *placement, size_t layers, struct budget *budget,
                    struct error *err)
{
    size_t segments = 1;
    while (segments * segments < layers)
        segments++;
    for (size_t k = 0; k < segments; k++)
        if (!placement_add(placement, layers * k / segments, layers * (k + 1) / segments, budget,
                           err))
            return false;
    return true;
}

static bool keep(struct schedule *schedule, size_t from, size_t to, struct budget *budget,
                 struct error *err)
{
    for (size_t i = from; i < to; i++)
        if (!schedule_add(schedule, RUN_AND_KEEP, i, budget, err))
            return false;
    return true;
}

static bool go_back(struct schedule *schedule, size_t from, size_t to, struct budget *budget,
                    struct error *err)
{
    for (size_t i = to; i-- > from;)
        if (!schedule_add(schedule, RUN_BACKWARD, i, budget, err))
            return false;
    return true;
}

bool placement_schedule(const struct placement *placement, size_t layers, struct schedule *schedule,
                        struct budget *budget, struct error *err)
{
    size_t done = 0;
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        if (!keep(schedule, done, segment.first, budget, err) ||
            !schedule_run(schedule, segment.first, segment.end, segment.end < layers, budget, err))
            return false;
        done = segment.end;
    }
    if (!keep(schedule, done, layers, budget, err))
        return false;
    done = layers;
    for (size_t k = placement->count; k-- > 0;) {
        struct wrapped segment = placement->segments[k];
        if (!go_back(schedule, segment.end, done, budget, err) ||
            !keep(schedule, segment.first, segment.end, budget, err) ||
            !go_back(schedule, segment.first, segment.end, budget, err))
            return false;
        done = segment.first;
    }
    return go_back(schedule, 0, done, budget, err);
}

bool placement_replay(const struct placement *placement, const struct chain *chain,
                      struct budget *budget, struct replay_outcome *outcome, struct error *err)
{
    struct schedule schedule = {0};
    bool ok = placement_schedule(placement, chain->layers, &schedule, budget, err) &&
              schedule_replay(&schedule, chain, budget, outcome, err);
    schedule_release(&schedule, budget);
    return ok;
}
