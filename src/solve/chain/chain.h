/* A chain of layers, each of which takes what the one before it gives: the model that checkpoints
 * are placed in. Sizes are bytes, times are whole units of whatever the caller measures in. */
#ifndef MEMSNAP_SOLVE_CHAIN_CHAIN_H
#define MEMSNAP_SOLVE_CHAIN_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"

/* Sizes, and times, of a chain add up to less than this, so that doubles hold every sum exactly. */
#define CHAIN_MOST (INT64_C(1) << 50)

struct chain {
    size_t layers;    /* n */
    int64_t *x;       /* [n+1] x[i]: the input of layer i; x[n]: the output of the chain */
    int64_t *xbar;    /* [n] what layer i keeps for its backward, its output included */
    int64_t *ftmp;    /* [n] what it takes more while it runs forward */
    int64_t *btmp;    /* [n] and backward, beside x[i+1] for the gradient of its output */
    int64_t *forward; /* [n] time of its forward */
};

/* Arrays of zeros. */
bool chain_create(struct chain *chain, size_t layers, struct budget *budget, struct error *err);
void chain_release(struct chain *chain, struct budget *budget); /* also of zeros */

/* STATUS_BAD_INPUT where there is no layer or a value is negative, STATUS_LIMIT where sizes or
 * times add up to CHAIN_MOST or more. What follows expects a chain that passed. */
bool chain_check(const struct chain *chain, struct error *err);

int64_t chain_forward_time(const struct chain *chain);

/* Of two numbers >= 0: the greatest; of a number and 0 that number. */
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
