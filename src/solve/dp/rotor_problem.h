/* A chain and a budget as a problem for a cost table: bytes become slots, times become units. */
#ifndef MEMSNAP_SOLVE_DP_ROTOR_PROBLEM_H
#define MEMSNAP_SOLVE_DP_ROTOR_PROBLEM_H

#include "solve/backend/cost_table.h"
#include "solve/chain/chain.h"

struct rotor_problem {
    struct cost_problem problem; /* its arrays are owned */
    int64_t slot_bytes;
    int32_t within; /* slots that are surely within the budget; problem.slots may be more */
    bool exact;     /* no size was rounded */
    int32_t *arrays;
    size_t bytes;
};

#define ROTOR_MOST_SLOTS (COST_MAX_SLOTS / 2)

/* At most so many slots has the table of a problem whose budget is divided into `slots`. */
size_t rotor_problem_slots(size_t slots);

/* `bytes` >= 0 divided into about `slots` >= 1; sizes beyond them are cut to what does not fit. */
bool rotor_problem_create(struct rotor_problem *made, const struct chain *chain, int64_t bytes,
                          size_t slots, struct budget *budget, struct error *err);
void rotor_problem_release(struct rotor_problem *problem, struct budget *budget);

#endif
