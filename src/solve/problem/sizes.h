/* What the layers of a chain take, from the rows of its pieces. */
#ifndef MEMSNAP_SOLVE_PROBLEM_SIZES_H
#define MEMSNAP_SOLVE_PROBLEM_SIZES_H

#include "solve/problem/problem.h"

/* Fills problem.chain, which was created; problem.timed is set. */
bool problem_set_sizes(struct problem *problem, struct error *err);

#endif
