/* The peak memory of a checkpointed segment [first, end), without its input and without what was
 * stored before it, computed incrementally: one layer is added at a time. */
#ifndef MEMSNAP_SOLVE_CHAIN_SEGMENT_COST_H
#define MEMSNAP_SOLVE_CHAIN_SEGMENT_COST_H

#include "solve/chain/chain.h"

struct segment_cost {
    int64_t kept;    /* sum of xbar */
    int64_t again;   /* maximum during the second forward, without the gradient x[end] */
    int64_t rest;    /* maximum during the first forward or the backward */
    int64_t forward; /* time of the forward */
};

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Extends the cost of [first, l) by layer l. */
static inline void segment_cost_add(struct segment_cost *cost, const struct chain *chain,
                                    size_t first, size_t l)
{
    int64_t running = (l > first ? chain->x[l] : 0) + chain->x[l + 1] + chain->ftmp[l];
    cost->kept += chain->xbar[l];
    cost->again = larger(cost->again, cost->kept + chain->ftmp[l]);
    int64_t back = cost->kept + chain->x[l + 1] + chain->btmp[l];
    cost->rest = larger(cost->rest, larger(running, back));
    cost->forward += chain->forward[l];
}

static inline int64_t segment_cost_peak(const struct segment_cost *cost, const struct chain *chain,
                                        size_t end)
{
    return larger(chain->x[end] + cost->again, cost->rest);
}

/* The time that a checkpoint adds: it stops at the last tensor that the segment saves. */
static inline int64_t segment_cost_time(const struct segment_cost *cost, const struct chain *chain,
                                        size_t end)
{
    return larger(cost->forward - chain->tail[end - 1], 0);
}

/* A lower bound of the peak. It grows with the segment, so a search over longer ones can stop. */
static inline int64_t segment_cost_least(const struct segment_cost *cost)
{
    return larger(cost->again, cost->rest);
}

/* The peak of layer i alone when it is not checkpointed. */
static inline int64_t kept_layer_peak(const struct chain *chain, size_t i)
{
    return chain->xbar[i] + larger(chain->ftmp[i], chain->x[i + 1] + chain->btmp[i]);
}

#endif
