/* Random chains for the cost table. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_PROBLEMS_H
#define MEMSNAP_TESTS_UNIT_SOLVE_PROBLEMS_H

#include "solve/cost/cost_table.h"
#include "unit/solve/chance.h"

#define MOST_LAYERS 128

struct random_problem {
    int32_t x[MOST_LAYERS + 1], xbar[MOST_LAYERS], ftmp[MOST_LAYERS], btmp[MOST_LAYERS];
    int32_t forward[MOST_LAYERS];
    struct cost_problem problem; /* points to the arrays: must not be copied */
};

/* Sizes up to `size` slots, times up to `time` units. */
void random_problem_fill(struct random_problem *random, struct chance *chance, int32_t layers,
                         int32_t slots, int32_t size, int32_t time);

#endif
