#include "solve/dp/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/chain/segment_cost.h"
#include "solve/dp/peak.h"

#define MOST_SLOTS 4000
#define FEW_SLOTS  250       /* slots of a first search, whose steps determine the final number */
#define MANY       2048      /* layers: fewer get a finer first search */
#define MOST_STEPS 2e8       /* states times segments: about a second */
#define NOTHING    INT64_MAX /* memory of a slot without a placement */

/* The memory and time of a partial placement of layers i..: a point of their own front. */
struct front_state {
    int64_t memory, time;
    size_t slot; /* time, rounded up */
};

/* The states of layers i..: memory descending, time and slot ascending. */
struct front_states {
    const struct front_state *items;
    size_t count;
};

static inline struct front_states front_states_of(const struct front *front, size_t i)
{
    size_t from = front->starts[i + 1];
    return (struct front_states){front->states + from, front->starts[i] - from};
}

/* The best placement of every slot, while the states of layers i.. are searched. Within a slot time
 * and memory are weighed as in the whole chain, because small excesses of either add up from layer
 * to layer. The placement with the least memory is kept in addition. */
struct search {
    struct front *front;
    struct candidate {
        struct front_state state;
        double weight;
    } * best; /* [slots+1] */
    struct front_state least;
    size_t slots;
    int64_t slot_time;
    double bytes_per_time;
    uint64_t steps; /* steps done */
};

static size_t slots_up(const struct search *search, int64_t time)
{
    return (size_t)((time + search->slot_time - 1) / search->slot_time);
}

/* Chooses at most `most` slots. True if a slot is the greatest common divisor of all times. */
static bool choose_slots(struct search *search, size_t most)
{
    const struct chain *chain = search->front->chain;
    int64_t whole = chain_forward_time(chain), unit = 0, slots = (int64_t)most;
    for (size_t i = 0; i < chain->layers; i++)
        unit = common_divisor(chain->forward[i], unit);
    for (size_t k = 0; k < chain->option_count; k++)
        for (size_t i = 0; i < chain->layers; i++)
            unit = common_divisor(chain->options[k].forward[i], unit);
    bool exact = whole == 0 || whole / unit <= slots;
    search->slot_time = whole == 0 ? 1 : exact ? unit : (whole + slots - 1) / slots;
    search->slots = slots_up(search, whole);
    return exact;
}

static inline void offer(struct search *search, size_t slot, int64_t memory, int64_t time)
{
    struct candidate *best = &search->best[slot];
    double weight = (double)memory + search->bytes_per_time * (double)time;
    bool better = time == best->state.time ? memory < best->state.memory : weight < best->weight;
    if (better) {
        best->state.memory = memory;
        best->state.time = time;
        best->state.slot = slot;
        best->weight = weight;
    }
    if (memory < search->least.memory ||
        (memory == search->least.memory && time < search->least.time)) {
        search->least.memory = memory;
        search->least.time = time;
        search->least.slot = slot;
    }
}

/* Tries a segment that takes `peak` and `time`, with `stored` bytes held while the layers after it
 * run. */
static void try_segment(struct search *search, struct front_states after, int64_t time,
                        int64_t peak, int64_t stored)
{
    size_t slots = slots_up(search, time);
    for (size_t k = 0; k < after.count; k++) {
        const struct front_state *state = &after.items[k];
        int64_t together = time + state->time;
        size_t slot = state->slot + slots; /* or one less, since both were rounded up */
        slot -= ((int64_t)slot - 1) * search->slot_time >= together;
        offer(search, slot, larger(peak, stored + state->memory), together);
        search->steps++;
        if (stored + state->memory <= peak)
            break; /* the following states take less memory and more time, which does not help here
                    */
    }
}

/* Segments are tried in order of length, until one takes at least the memory of a placement that is
 * not slower. Longer ones take more of both. */
static void try_segments(struct search *search, size_t i, const struct chain_option *option)
{
    const struct front *front = search->front;
    const struct chain *chain = front->chain;
    struct segment_cost cost = {.option = option};
    int64_t least = NOTHING, input = chain_input(chain, i);
    size_t seen = 0, reach = chain_reach(chain, option, i);
    for (size_t s = i + 1; s <= reach; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        int64_t time = segment_cost_time(&cost, chain, s);
        for (; (int64_t)seen * search->slot_time <= time; seen++)
            least =
                search->best[seen].state.memory < least ? search->best[seen].state.memory : least;
        if (input + segment_cost_least(&cost) >= least)
            break;
        try_segment(search, front_states_of(front, s), time,
                    input + segment_cost_peak(&cost, chain, s),
                    segment_cost_stored(&cost, chain, i, s));
    }
}

static void try_layer(struct search *search, size_t i)
{
    const struct front *front = search->front;
    const struct chain *chain = front->chain;
    struct front_states next = front_states_of(front, i + 1);
    for (size_t k = 0; k < next.count; k++)
        offer(search, next.items[k].slot,
              larger(kept_layer_peak(chain, i), chain->xbar[i] + next.items[k].memory),
              next.items[k].time);
    for (size_t number = 0; number <= chain->option_count; number++)
        try_segments(search, i, chain_option(chain, number));
}

static bool add_state(struct front *front, struct front_state state, struct budget *budget,
                      struct error *err)
{
    return vec_push(front->states, front->state_count, front->state_capacity, budget, err, state);
}

/* Drops every placement that is slower than another and takes no less memory. */
static bool keep_best(struct search *search, size_t i, struct budget *budget, struct error *err)
{
    struct front *front = search->front;
    struct front_state least = search->least;
    int64_t memory = NOTHING;
    for (size_t slot = 0; slot <= least.slot; slot++) {
        const struct front_state *best = &search->best[slot].state;
        if (best->memory >= memory || best->time >= least.time)
            continue;
        memory = best->memory;
        if (!add_state(front, *best, budget, err))
            return false;
    }
    if (!add_state(front, least, budget, err))
        return false;
    front->starts[i] = front->state_count;
    return true;
}

static void clear(struct search *search)
{
    const struct front_state nothing = {.memory = NOTHING, .time = -1};
    for (size_t slot = 0; slot <= search->slots; slot++)
        search->best[slot] = (struct candidate){nothing, INFINITY};
    search->least = nothing;
}

/* Computes the states from the last layer to the first. */
static bool find_states(struct search *search, struct budget *budget, struct error *err)
{
    struct front *front = search->front;
    size_t n = front->chain->layers;
    search->steps = 0;
    front->state_count = front->starts[n + 1] = 0;
    clear(search);
    offer(search, 0, 0, 0);
    bool ok = keep_best(search, n, budget, err);
    for (size_t i = n; ok && i-- > 0;) {
        clear(search);
        try_layer(search, i);
        ok = keep_best(search, i, budget, err);
    }
    return ok;
}

/* The number of slots that takes about a second, estimated from the steps for `few` slots. */
static size_t slots_for(const struct search *search, size_t few)
{
    double most = (double)few * MOST_STEPS / ((double)search->steps + 1);
    return most > MOST_SLOTS ? MOST_SLOTS : (size_t)most;
}

static bool search_front(struct front *front, struct budget *budget, struct error *err)
{
    size_t bytes = (MOST_SLOTS + 1) * sizeof(struct candidate);
    size_t few = front->chain->layers > MANY ? FRONT_LEAST_SLOTS : FEW_SLOTS, most;
    int64_t whole = chain_forward_time(front->chain);
    struct search search = {.front = front};
    if (!budget_take(budget, bytes, err))
        return false;
    search.best = malloc(bytes);
    bool ok = search.best || error_out_of_memory(err);
    if (whole > 0)
        search.bytes_per_time = (double)peak_without(front->chain) / (double)whole;
    bool all = ok && choose_slots(&search, few);
    ok = ok && find_states(&search, budget, err);
    if (ok && !all && (most = slots_for(&search, few)) >= 2 * few) {
        choose_slots(&search, most);
        ok = find_states(&search, budget, err);
    }
    free(search.best);
    budget_give(budget, bytes);
    return ok;
}

/* The state of layers i.. with exactly this time, or NULL. */
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

/* Finds the end of a segment that begins at layer i, takes `time` with what follows, and needs
 * `memory`; 0: none. Sets `*time` to the time of what follows. */
static size_t segment_end(const struct front *front, size_t i, const struct chain_option *option,
                          int64_t memory, int64_t *time)
{
    const struct chain *chain = front->chain;
    struct segment_cost cost = {.option = option};
    size_t reach = chain_reach(chain, option, i);
    for (size_t s = i + 1; s <= reach; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        int64_t again = segment_cost_time(&cost, chain, s);
        const struct front_state *after = state_at(front, s, *time - again);
        if (after && larger(chain_input(chain, i) + segment_cost_peak(&cost, chain, s),
                            segment_cost_stored(&cost, chain, i, s) + after->memory) == memory) {
            *time -= again;
            return s;
        }
    }
    return 0;
}

/* Follows a placement by one step: returns the part that begins at layer i, and sets `*time` to the
 * time of the rest. The part is the kept layer i if `*kept`. */
static struct wrapped step(const struct front *front, size_t i, int64_t *time, bool *kept)
{
    const struct chain *chain = front->chain;
    const struct front_state *wanted = state_at(front, i, *time);
    const struct front_state *after = state_at(front, i + 1, *time);
    *kept = after &&
            larger(kept_layer_peak(chain, i), chain->xbar[i] + after->memory) == wanted->memory;
    for (unsigned number = 0; !*kept && number <= chain->option_count; number++) {
        size_t end = segment_end(front, i, chain_option(chain, number), wanted->memory, time);
        if (end > 0)
            return (struct wrapped){.first = i, .end = end, .option = number};
    }
    return (struct wrapped){.first = i, .end = i + 1};
}

bool front_place(const struct front *front, const struct front_point *point,
                 struct placement *placement, struct budget *budget, struct error *err)
{
    int64_t time = point->extra_time;
    if (point->by_total)
        front = &front->totals->front;
    for (size_t i = 0; i < front->chain->layers;) {
        bool kept;
        struct wrapped part = step(front, i, &time, &kept);
        if (!kept && !vec_push(placement->segments, placement->count, placement->capacity, budget,
                               err, part))
            return false;
        i = part.end;
    }
    return true;
}

/* Collects the points of the whole chain, the least memory first, without those that are hardly
 * faster than a point with less memory. */
static bool collect(struct front *front, struct budget *budget, struct error *err)
{
    struct front_states all = front_states_of(front, 0);
    if (!vec_reserve(front->points, front->capacity, all.count, budget, err))
        return false;
    int64_t hardly = chain_forward_time(front->chain) / FRONT_TOLD_APART;
    for (size_t k = all.count; k-- > 0;) {
        const struct front_state *state = &all.items[k];
        if (front->count > 0 && state->time > 0 &&
            front->points[front->count - 1].extra_time - state->time < hardly)
            continue;
        front->points[front->count++] =
            (struct front_point){.peak_bytes = state->memory, .extra_time = state->time};
    }
    front->least = front->points[0];
    return true;
}

bool front_create(struct front *front, const struct chain *chain, struct budget *budget,
                  struct error *err)
{
    struct front made = {.chain = chain};
    if (chain->layers > FRONT_MOST_LAYERS)
        return error_set(err, STATUS_LIMIT, "%zu layers are more than %d", chain->layers,
                         FRONT_MOST_LAYERS);
    if (!vec_reserve(made.starts, made.start_capacity, chain->layers + 2, budget, err))
        return false;
    if (!search_front(&made, budget, err) || !collect(&made, budget, err)) {
        front_release(&made, budget);
        return false;
    }
    *front = made;
    return true;
}

static void release_totals(struct front *front, struct budget *budget)
{
    if (!front->totals)
        return;
    front_release(&front->totals->front, budget);
    chain_drop_gradients(&front->totals->chain, budget);
    free(front->totals);
    budget_give(budget, sizeof(*front->totals));
    front->totals = NULL;
}

void front_release(struct front *front, struct budget *budget)
{
    release_totals(front, budget);
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
