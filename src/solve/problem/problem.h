/* A layer trace as a chain: which modules are its layers, and what they take.
 *
 * The trace has a row for every leaf module that ran, with the size of its outputs. A piece of the
 * chain is a run of rows that belong to one module of the tree (solve/problem/cuts.h); a run
 * without activations of its own, such as an in-place ReLU, belongs to the piece before it, whose
 * output it changes.
 *
 *   x       the last output of the piece before; of the first, unknown: 0. The model's input is
 *           there throughout, whatever is checkpointed
 *   xbar    what its rows save (saved_activations, else memory_activations), its output at least
 *   ftmp    what running its rows one after another, each with its input and its output, takes more
 *           than the piece's output
 *   btmp    what running them backward takes more than xbar and the gradient of the piece's output
 *   forward time of its rows, in nanoseconds; where rows have none, their bytes instead
 *
 * Not in it: parameters, their gradients, the optimizer's state, and what operators take while they
 * run. */
#ifndef MEMSNAP_SOLVE_PROBLEM_PROBLEM_H
#define MEMSNAP_SOLVE_PROBLEM_PROBLEM_H

#include "model/layer_trace.h"
#include "solve/chain/chain.h"
#include "solve/problem/cuts.h"

#define NANOSECONDS 1000.0 /* in a microsecond */

struct piece {
    size_t first_row, end_row;       /* of problem.rows */
    size_t first_module, end_module; /* of problem.modules: what it consists of */
};

struct problem {
    const struct layer_row **rows; /* forward rows of the trace, in order */
    size_t row_count;
    struct text *modules; /* prefixes of names in the trace's symbols */
    size_t module_count;
    struct piece *pieces; /* the layers of the chain */
    struct chain chain;
    bool timed;            /* forward times are nanoseconds, not bytes */
    bool times_given;      /* and the user's (solve/problem/layer_times.h), not the trace's */
    int64_t backward_time; /* in the same unit; twice the forward where it was not recorded */
    bool backward_timed;
    bool partly_timed, partly_backward; /* not timed, though some rows of the trace have times */
    size_t merged;    /* pieces before they were merged to be few enough; 0: they were */
    size_t revisited; /* modules that form more than one piece: they run several times */
    size_t row_capacity, module_capacity, piece_capacity;
};

/* At most `most` pieces: beyond, neighbours are merged. STATUS_BAD_INPUT where the trace has no
 * forward rows, STATUS_USAGE where a pattern matches no module. The trace, and `budget`, outlive
 * the problem. */
bool problem_create(struct problem *problem, const struct layer_trace *trace,
                    const struct cuts *cuts, size_t most, struct budget *budget, struct error *err);
void problem_release(struct problem *problem, struct budget *budget);

/* The piece that holds row `row` of problem.rows. */
size_t problem_piece_of(const struct problem *problem, size_t row);

#endif
