/* A chain of layers read off an allocator snapshot (analysis/chain/forward_chain.h) as a problem.
 *
 *   x       what the elements are taken to give to the next one; the model's input, unknown: 0
 *   xbar    the activations of an element, or its output where that is more
 *   ftmp    the most that was there while it ran forward, less all activations up to its own. What
 *           it takes without keeping anything is not recorded, but is no more than with all kept
 *   btmp    the same of its backward, less the gradient of its output, too
 *   forward nanoseconds of the host; bytes of activations in a trace without times */
#ifndef MEMSNAP_SOLVE_PROBLEM_FORWARD_H
#define MEMSNAP_SOLVE_PROBLEM_FORWARD_H

#include "analysis/chain/forward_chain.h"
#include "solve/problem/problem.h"

struct forward_problem {
    struct layer_trace trace; /* an element is a row; only rows, counts and symbols are set */
    struct layer_row *rows;
    size_t row_capacity;
    struct problem problem; /* pieces are elements, modules are parts */
};

/* Of a chain that was found. `symbols`, which have its names, and `budget` outlive it. */
bool forward_problem_create(struct forward_problem *made, const struct forward_chain *chain,
                            struct symbols *symbols, struct budget *budget, struct error *err);
void forward_problem_release(struct forward_problem *made, struct budget *budget);

#endif
