/* Optimal persistent schedules by trying them all, from the operations' definition rather than
 * from the recurrences of solve/cost/cost_table.h. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_BRUTE_H
#define MEMSNAP_TESTS_UNIT_SOLVE_BRUTE_H

#include "solve/cost/cost_table.h"

/* The least time of repeated forward passes with which layers 0..L-1 run forward and backward in
 * `slots`, the chain's input not counted; COST_INFINITE where none fits. For few layers. */
int32_t brute_extra_time(const struct cost_problem *problem, int32_t slots);

#endif
