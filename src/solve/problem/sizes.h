/* Computes the sizes of a chain's layers from the rows of its pieces. */
#ifndef MEMSNAP_SOLVE_PROBLEM_SIZES_H
#define MEMSNAP_SOLVE_PROBLEM_SIZES_H

#include "solve/problem/problem.h"

/* Fills problem.chain, which must have been created, and sets problem.timed. */
bool problem_set_sizes(struct problem *problem, struct error *err);

#endif
