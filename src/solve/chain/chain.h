/* A chain of layers, each of which reads the output of the one before: the model in which
 * checkpoints are placed. Sizes are bytes; times are integers in a unit that the caller chooses. */
#ifndef MEMSNAP_SOLVE_CHAIN_CHAIN_H
#define MEMSNAP_SOLVE_CHAIN_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

/* The sum of all sizes and the sum of all times are less than this, so a double holds them exactly.
 */
#define CHAIN_MOST (INT64_C(1) << 50)

/* A set of operators whose results a checkpoint keeps, so that it does not run them again. */
struct chain_option {
    int64_t *kept;    /* [n] bytes of such results of layer i */
    int64_t *unsaved; /* [n] part of kept[i] that xbar[i] does not include; freed as soon as the
                         layer has run again */
    int64_t *late;    /* [n] part of kept[i] that is made after the last tensor that layer i saves.
                         The checkpoint holds it all the time, so chain_over() takes it off
                         chain.over */
    int64_t *forward; /* [n] time of the layer without those operators */
    int64_t *tail;    /* [n] as chain.tail, without them */
    int64_t *reach;   /* [n] as chain.reach, but less if some results cannot be kept */
};

#define CHAIN_OPTIONS 4

/* A storage that several layers read and none saves. A checkpoint that begins with one of these
 * layers holds it; later checkpoints hold the same storage, which counts once. */
struct chain_shared {
    int64_t bytes;
    uint32_t maker;                 /* the layer that makes it */
    uint32_t first_reader, readers; /* in chain.shared_readers, ascending, after the maker */
};

struct chain {
    size_t layers;    /* n */
    int64_t *x;       /* [n+1] x[i]: the input of layer i; x[n]: the output of the chain */
    int64_t *xbar;    /* [n] bytes that layer i keeps for its backward, its output included */
    int64_t *ftmp;    /* [n] temporary bytes while it runs forward */
    int64_t *btmp;    /* [n] temporary bytes of its backward, besides x[i+1] for the gradient of its
                         output */
    int64_t *forward; /* [n] time of its forward */

    /* Known only for recorded layers; zeros and n otherwise. */
    int64_t *late;   /* [n+1] part of x[i] that is freed after layer i ran, unless a checkpoint of
                        layer i   or xbar[i-1] holds it */
    int64_t *loose;  /* [n+1] part of late[i] that xbar[i-1] does not include: ftmp of both layers
                        has it */
    int64_t *far;    /* [n+1] what layer i reads of layers before i-1 and nothing else keeps */
    int64_t *tail;   /* [n] time at the end of a segment ending here that is not run again, because
                        nothing is saved in it; may exceed forward[i] */
    int64_t *over;   /* [n] how much less than xbar + ftmp the layer needs until it saves its last
                        tensor, where a checkpoint that ends with the layer stops; at least 0 */
    int64_t *outer;  /* [n] part of ftmp that exists only in the first forward pass, because the
                        program holds it in variables around the layer */
    int64_t *pinned; /* [n] part of xbar that a checkpoint does not free before the backward pass */
    int64_t *cast; /* [n] part of pinned that is freed when the backward pass begins. Solvers do not
                      count on that, so their peaks are upper bounds; a replay does */
    int64_t *gradient; /* [n] parameters' gradients that the backward of layer i makes */
    int64_t *replaced; /* [n] part of gradient that the backward of layer i makes only after it has
                          freed as many bytes of xbar; it is not there at the layer's peak */
    int64_t *old;    /* [n] parameters' gradients of the step before that still exist while layer i
                        first runs; a replay counts them in the total, solvers do not */
    int64_t *piled;  /* [n+1] gradients of parameters that exist once the backward of layer i has
                        run; zeros unless a solver is to minimize the total */
    int64_t *piling; /* [n] part of piled that exists at the peak of the backward of layer i */
    int64_t *reach; /* [n] the furthest end of a segment that begins at layer i; i if none can begin
                       there */

    struct chain_option options[CHAIN_OPTIONS];
    size_t option_count;

    /* Their bytes count in xbar and pinned of their makers, as if the makers saved them. Solvers do
     * not know which checkpoint is the first to hold them, so their peaks are upper bounds. A
     * replay does know. */
    struct chain_shared *shared;
    size_t shared_count, shared_capacity;
    uint32_t *shared_readers;
    size_t reader_count, reader_capacity;
};

/* All arrays are zeros, except that `reach` is `layers`. */
bool chain_create(struct chain *chain, size_t layers, struct budget *budget, struct error *err);
/* Adds an option, with zeros in all arrays. The chain must have fewer than CHAIN_OPTIONS. */
bool chain_add_option(struct chain *chain, struct budget *budget, struct error *err);
void chain_release(struct chain *chain, struct budget *budget); /* a zeroed chain is allowed */

/* A chain whose peaks include the gradients of parameters, which pile up in the backward pass:
 * solvers then minimize the total. It shares all arrays but `piled` and `piling` with
 * `chain`, which must outlive it. */
bool chain_with_gradients(struct chain *counted, const struct chain *chain, struct budget *budget,
                          struct error *err);
void chain_drop_gradients(struct chain *counted,
                          struct budget *budget); /* a zeroed chain is allowed */

/* STATUS_BAD_INPUT: no layer, or a negative value. STATUS_LIMIT: sizes or times add up to
 * CHAIN_MOST or more. All solvers require a chain that passed this check. */
bool chain_check(const struct chain *chain, struct error *err);

int64_t chain_forward_time(const struct chain *chain);

/* How much less than xbar + ftmp of layer i a checkpoint needs that ends with layer i. */
static inline int64_t chain_over(const struct chain *chain, const struct chain_option *option,
                                 size_t i)
{
    int64_t late = option ? option->late[i] : 0;
    return chain->over[i] > late ? chain->over[i] - late : 0;
}

/* An option by its number from 1; NULL for 0, a checkpoint that keeps no results. */
static inline const struct chain_option *chain_option(const struct chain *chain, size_t number)
{
    return number > 0 ? &chain->options[number - 1] : NULL;
}

/* The furthest end of a segment that begins at layer i. */
static inline size_t chain_reach(const struct chain *chain, const struct chain_option *option,
                                 size_t i)
{
    return (size_t)(option ? option->reach[i] : chain->reach[i]);
}

/* Bytes that a checkpointed segment holds of its input beyond those stored by the part before it.
 */
static inline int64_t chain_input(const struct chain *chain, size_t first)
{
    return chain->late[first] + chain->far[first];
}

/* Bytes of x[i] that a segment ending at i, or the layer before it, leaves for the layers after. */
static inline int64_t chain_stored(const struct chain *chain, size_t i)
{
    return chain->x[i] - chain->late[i];
}

/* Bytes that layer i needs, besides its input, while it runs forward and keeps nothing.
 * `loose_input` is the part of the input that ftmp includes, too. */
static inline int64_t chain_running(const struct chain *chain, size_t i, int64_t loose_input)
{
    int64_t output = chain->loose[i + 1], beside = chain->ftmp[i] - loose_input;
    return chain->x[i + 1] - output + (beside > output ? beside : output);
}

/* Bytes that exist while layer i reads the result of a checkpoint that ends before it,
 * besides what that checkpoint stores. This is a lower bound, because the layer may keep more
 * than its output. */
static inline int64_t chain_reading(const struct chain *chain, size_t i)
{
    return chain->late[i] - chain->loose[i] + chain_running(chain, i, 0);
}

/* The greatest common divisor of two numbers >= 0. With 0 it is the other number. */
static inline int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
