/* What is known of the storages of recorded layers. Internal to solve/problem. */
#ifndef MEMSNAP_SOLVE_PROBLEM_RECORDED_H
#define MEMSNAP_SOLVE_PROBLEM_RECORDED_H

#include "solve/chain/shared.h"
#include "solve/problem/problem.h"

/* Flags of a storage. */
enum {
    SAVED = 1,       /* some row saves it */
    NEAR = 2,        /* the piece after its maker reads it */
    FAR = 4,         /* a later piece reads it */
    SAVED_LATER = 8, /* a piece other than its maker saves it */
    SHARED = 16,     /* it is in chain.shared */
    HELD = 32,       /* part of a module's result that the program holds while memory is highest */
};

/* What is known about a storage. */
struct usage {
    uint32_t maker; /* the piece that made it */
    uint32_t last;  /* the last piece that reads it */
    uint32_t mark;  /* the last piece for which it was counted, plus one */
    uint32_t flags;
    uint32_t readers; /* used by shared.c only: the number of pieces that read it, then a place in
                         chain.shared_readers */
};

struct recorded {
    struct problem *problem;
    const struct layer_trace *trace;
    uint32_t *piece_of; /* by row of the trace */
    uint32_t *named;    /* by string id: the last piece of a row with that name, plus one */
    struct usage *usages;
    uint32_t *crossing;      /* [n+2] storages that cross the boundary before a piece */
    uint32_t *nearby;        /* [n+1] those of them that the piece before the boundary made */
    uint32_t *leaves_far;    /* [n] not 0 if a piece makes a storage that a piece after the next one
                                reads, or that the program holds */
    uint32_t *since, *stack; /* [n] of end_before_changes(); since: the piece that made what a piece
                                changes in place */
};

/* The times of a row, or of operators in it, in the unit of chain.forward. */
struct row_time {
    double all, tail;
};

/* Sets the forward times and tails of the chain's layers without `operators` (by row of the trace;
 * NULL: with all operators). Returns their sum. */
double recorded_times(const struct problem *problem, const struct layer_trace *trace,
                      const struct row_time *operators, int64_t *forward, int64_t *tail);

/* shared.c: makes chain.shared of what many pieces read and none saves. */
bool recorded_find_shared(struct recorded *recorded, struct budget *budget, struct error *err);

/* reach.c: sets chain.reach. Requires crossing, nearby and leaves_far. */
void recorded_set_reach(const struct recorded *recorded);

/* backward.c: sets chain.btmp, which must be zeros, and chain.replaced. The chain has its sizes and
 * gradients. */
void recorded_find_backward(const struct recorded *recorded, const struct shared_times *shared);

/* outer.c: sets chain.outer. The chain has its sizes and ftmp. */
void recorded_find_outer(const struct recorded *recorded, const struct shared_times *shared);

/* operators.c: adds the options of the chain, sets of costly operators whose results checkpoints
 * may keep, and sets problem.kept_operators. */
bool recorded_add_options(const struct recorded *recorded, struct budget *budget,
                          struct error *err);

#endif
