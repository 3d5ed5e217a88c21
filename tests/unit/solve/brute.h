/* Finds optimal persistent schedules by exhaustive search, from the definition of the operations
 * rather than from the recurrences of solve/cost/cost_table.h. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_BRUTE_H
#define MEMSNAP_TESTS_UNIT_SOLVE_BRUTE_H

#include "solve/cost/cost_table.h"

/* The least time of repeated forward passes to run layers 0..L-1 forward and backward in `slots`,
 * not counting the chain's input; COST_INFINITE if no schedule fits. For few layers. */
int32_t brute_extra_time(const struct cost_problem *problem, int32_t slots);

#endif
