/* What solve/dp/front.c finds placements from. */
#ifndef MEMSNAP_SOLVE_DP_FRONT_STATES_H
#define MEMSNAP_SOLVE_DP_FRONT_STATES_H

#include "solve/dp/front.h"

/* What layers i.. may take: a point of their own front. */
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

/* Finds the states of all layers, from the last one on; the front has its chain and `starts`. */
bool front_search(struct front *front, struct budget *budget, struct error *err);

#endif
