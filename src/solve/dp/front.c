#include "solve/chain/segment_cost.h"
#include "solve/dp/front_states.h"

/* The state of layers i.. that takes exactly so long; NULL where there is none. */
static const struct front_state *state_at(const struct front *front, size_t i, int64_t time)
{
    struct front_states states = front_states_of(front, i);
    size_t low = 0, high = states.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states.items[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < states.count && states.items[low].time == time ? &states.items[low] : NULL;
}

/* One step of a placement: where the part that begins at layer i and takes `*time` ends; kept if
 * that is i+1 and `*kept`. `*time` becomes that of what follows. */
static size_t step(const struct front *front, size_t i, int64_t *time, bool *kept)
{
    const struct chain *chain = front->chain;
    const struct front_state *wanted = state_at(front, i, *time);
    const struct front_state *after = state_at(front, i + 1, *time);
    *kept = after &&
            larger(kept_layer_peak(chain, i), chain->xbar[i] + after->memory) == wanted->memory;
    struct segment_cost cost = {0};
    for (size_t s = i + 1; s <= chain->layers && !*kept; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        after = state_at(front, s, *time - cost.forward);
        if (after && larger(segment_cost_peak(&cost, chain, s), chain->x[s] + after->memory) ==
                         wanted->memory) {
            *time -= cost.forward;
            return s;
        }
    }
    return i + 1;
}

bool front_place(const struct front *front, const struct front_point *point,
                 struct placement *placement, struct budget *budget, struct error *err)
{
    int64_t time = point->extra_time;
    for (size_t i = 0, end; i < front->chain->layers; i = end) {
        bool kept;
        end = step(front, i, &time, &kept);
        if (!kept && !placement_add(placement, i, end, budget, err))
            return false;
    }
    return true;
}

/* The states of all layers, the least memory first, but for those that are hardly faster than one
 * with less memory. */
static bool collect(struct front *front, struct budget *budget, struct error *err)
{
    struct front_states all = front_states_of(front, 0);
    if (!vec_grow((void **)&front->points, &front->capacity, all.count, sizeof(*front->points),
                  budget, err))
        return false;
    int64_t hardly = chain_forward_time(front->chain) / FRONT_TOLD_APART;
    for (size_t k = all.count; k-- > 0;) {
        const struct front_state *state = &all.items[k];
        if (front->count > 0 && state->time > 0 &&
            front->points[front->count - 1].extra_time - state->time < hardly)
            continue;
        front->points[front->count++] = (struct front_point){state->memory, state->time};
    }
    return true;
}

bool front_create(struct front *front, const struct chain *chain, struct budget *budget,
                  struct error *err)
{
    struct front made = {.chain = chain};
    if (chain->layers > FRONT_MOST_LAYERS)
        return error_set(err, STATUS_LIMIT, "%zu layers are more than %d", chain->layers,
                         FRONT_MOST_LAYERS);
    if (!vec_grow((void **)&made.starts, &made.start_capacity, chain->layers + 2,
                  sizeof(*made.starts), budget, err))
        return false;
    if (!front_search(&made, budget, err) || !collect(&made, budget, err)) {
        front_release(&made, budget);
        return false;
    }
    *front = made;
    return true;
}

void front_release(struct front *front, struct budget *budget)
{
    vec_free(front->points, front->capacity, sizeof(*front->points), budget);
    vec_free(front->states, front->state_capacity, sizeof(*front->states), budget);
    vec_free(front->starts, front->start_capacity, sizeof(*front->starts), budget);
    *front = (struct front){0};
}

const struct front_point *front_within(const struct front *front, int64_t bytes)
{
    const struct front_point *best = NULL;
    for (size_t i = 0; i < front->count && front->points[i].peak_bytes <= bytes; i++)
        best = &front->points[i];
    return best;
}
