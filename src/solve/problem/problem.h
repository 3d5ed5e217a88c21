/* Converts a layer trace to a chain: which modules are its layers, and their sizes and times.
 *
 * The trace has a row for every leaf module that ran, with the size of its outputs. A piece of the
 * chain is a run of rows that belong to one module of the tree (solve/problem/cuts.h). A run
 * without activations of its own, such as an in-place ReLU, belongs to the piece before it, whose
 * output it changes.
 *
 *   x       the last output of the previous piece; 0 for the first piece, since the model's
 *           input is unknown. It is in memory throughout, whatever is checkpointed
 *   xbar    the memory its rows save (saved_activations, else memory_activations), at least
 *           its output
 *   ftmp    the maximum while its rows run one after another, each with its input and output,
 *           less the piece's output
 *   btmp    the maximum while they run backward, less xbar and the gradient of the piece's output
 *   forward the time of its rows in nanoseconds; if rows have none, their bytes instead
 *
 * Not included: parameters, their gradients, the optimizer's state, and temporary memory of
 * operators. */
#ifndef MEMSNAP_SOLVE_PROBLEM_PROBLEM_H
#define MEMSNAP_SOLVE_PROBLEM_PROBLEM_H

#include "model/layer_trace.h"
#include "solve/chain/chain.h"
#include "solve/problem/cuts.h"
#include "solve/problem/weighed.h"

#define NANOSECONDS 1000.0 /* per microsecond */

struct piece {
    size_t first_row, end_row;       /* of problem.rows */
    size_t first_module, end_module; /* of problem.modules: the modules of the piece */
    struct text called; /* the name of its module, if the piece is one of several calls; the name in
                           problem.modules then ends in the number of the call */
    bool ended;         /* recorded: a call of its module ends in the piece */
    bool interrupted;   /* recorded: another piece contains a part of the same call, or it is not
                           known which call the piece belongs to */
};

struct problem {
    const struct layer_row **rows; /* forward rows of the trace, in order */
    size_t row_count;
    struct text *modules; /* prefixes of names in the trace's symbols */
    size_t module_count;
    struct piece *pieces; /* the layers of the chain */
    struct chain chain;
    bool timed;               /* forward times are nanoseconds, not bytes */
    bool weighed;             /* not timed: forward times are costs as in weighed.h */
    struct weighed_sum whole; /* weighed: of all layers */
    bool times_given;      /* given by the user (solve/problem/layer_times.h), not by the trace */
    int64_t backward_time; /* in the same unit; twice the forward time if it was not recorded */
    bool backward_timed;
    bool partly_timed, partly_backward; /* not timed, although some rows of the trace have times */
    bool recorded;                      /* by memsnap's recorder: storages are known (recorded.c) */
    bool has_totals; /* recorded, and the step is whole; an error ends a step before its totals are
                        known */
    bool by_calls;   /* of a snapshot: checkpoints hold calls of modules only (forward.h) */
    bool one_level;  /* not all segments can be wrapped, so checkpoints within checkpoints are not
                        planned */
    /* option k of the chain keeps the results of the first k of these operators */
    struct text kept_operators[CHAIN_OPTIONS];
    int64_t before_bytes;              /* recorded: allocated before the step, and by libraries */
    int64_t no_checkpoint_bytes;       /* recorded: the peak of the chain without checkpoints */
    int64_t no_checkpoint_total_bytes; /* recorded: the peak with everything, without checkpoints */
    size_t merged;    /* number of pieces before they were merged to the limit; 0: not merged */
    size_t revisited; /* modules that form several pieces, because they run several times */
    size_t row_capacity, module_capacity, piece_capacity;
};

/* Makes at most `most` pieces by merging neighbours. STATUS_BAD_INPUT if the trace has no forward
 * rows, STATUS_USAGE if a pattern matches no module. The trace and `budget` must outlive the
 * problem. */
bool problem_create(struct problem *problem, const struct layer_trace *trace,
                    const struct cuts *cuts, size_t most, struct budget *budget, struct error *err);
void problem_release(struct problem *problem, struct budget *budget);

/* The piece that contains row `row` of problem.rows. */
size_t problem_piece_of(const struct problem *problem, size_t row);

/* turns.c: true if a call of `module` ends in one of the recorded rows from `from` to before
 * `end`. */
bool problem_call_ends(const struct layer_trace *trace, const struct layer_row *from,
                       const struct layer_row *end, struct text module);
/* turns.c: sets piece.called, ended and interrupted, and names pieces by call: "layer [2/12]". */
bool problem_find_turns(struct problem *problem, const struct layer_trace *trace,
                        struct budget *budget, struct error *err);

/* sizes.c: computes the sizes of the chain's layers from the rows of its pieces. Fills
 * problem.chain, which must have been created, and sets problem.timed. */
bool problem_set_sizes(struct problem *problem, struct error *err);

/* recorded.c: the same for layers of memsnap's recorder, of which storages are known. */
bool problem_set_recorded(struct problem *problem, const struct layer_trace *trace,
                          struct budget *budget, struct error *err);

#endif
