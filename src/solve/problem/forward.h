/* Converts a chain of layers found in an allocator snapshot (analysis/chain/forward_chain.h) to a
 * problem.
 *
 *   x       the estimated output of the previous element; the model's input is unknown: 0
 *   xbar    the activations of an element, or its output if that is larger
 *   ftmp    the maximum during its forward, less all activations up to its own. Temporary
 *           memory without stored activations is not recorded, but is at most this
 *   btmp    the same for its backward, less the gradient of its output
 *   forward nanoseconds of the kernels that a profiler trace has; otherwise bytes of activations */
#ifndef MEMSNAP_SOLVE_PROBLEM_FORWARD_H
#define MEMSNAP_SOLVE_PROBLEM_FORWARD_H

#include "analysis/chain/forward_chain.h"
#include "solve/problem/problem.h"

struct forward_problem {
    struct layer_trace trace; /* one row for each element; only rows, counts and symbols are set */
    struct layer_row *rows;
    size_t row_capacity;
    struct problem problem; /* pieces are elements, modules are parts */
};

/* `chain` must have been found. `symbols`, which has its names, and `budget` must outlive the
 * problem. */
bool forward_problem_create(struct forward_problem *made, const struct forward_chain *chain,
                            struct symbols *symbols, struct budget *budget, struct error *err);
void forward_problem_release(struct forward_problem *made, struct budget *budget);

#endif
