/* Converts a chain of layers found in an allocator snapshot (analysis/chain/forward_chain.h) to a
 * problem.
 *
 *   x       the estimated output of the previous element; the model's input is unknown: 0
 *   xbar    the activations of an element, or its output if that is larger and stays
 *   late    the output, if the next element frees it
 *   ftmp    the maximum during its forward, less all activations up to its own. Temporary
 *           memory without stored activations is not recorded, but is at most this
 *   btmp    the same for its backward, less the gradient of its output
 *   forward nanoseconds of the kernels that a profiler trace has; otherwise bytes of activations,
 * or costs of these bytes by the classes of operators (weighed.h) where those are known
 *
 * With times or classes, a checkpoint may keep the results of operators. */
#ifndef MEMSNAP_SOLVE_PROBLEM_FORWARD_H
#define MEMSNAP_SOLVE_PROBLEM_FORWARD_H

#include "analysis/chain/forward_chain.h"
#include "solve/problem/problem.h"

struct forward_problem {
    /* One row for each element; only rows, operators and storages, their counts and symbols are
     * set. */
    struct layer_trace trace;
    struct layer_row *rows;
    struct layer_operator *operators;
    struct layer_storage *storages;
    uint32_t *storage_numbers;
    size_t row_capacity, operator_capacity, storage_capacity, number_capacity;
    struct problem problem; /* pieces are elements, modules are parts */
};

/* `chain` must have been found. With `by_calls`, checkpoints contain only calls of modules,
 * provided that these keep most of the chain's activations: such a plan can be applied without a
 * change of the model's code. `symbols`, which has the names of the chain, and `budget` must
 * outlive the problem. */
bool forward_problem_create(struct forward_problem *made, const struct forward_chain *chain,
                            bool by_calls, struct symbols *symbols, struct budget *budget,
                            struct error *err);
/* Calls of modules keep most of what the chain does. */
bool forward_mostly_modules(const struct forward_chain *chain);
/* forward_operators.c: adds the options of the chain. */
bool forward_add_options(struct forward_problem *made, const struct forward_chain *chain,
                         struct budget *budget, struct error *err);
void forward_problem_release(struct forward_problem *made, struct budget *budget);

#endif
