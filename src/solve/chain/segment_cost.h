/* The peak memory of a checkpointed segment [first, end), without its input and without what was
 * stored before it, computed incrementally: one layer is added at a time. */
#ifndef MEMSNAP_SOLVE_CHAIN_SEGMENT_COST_H
#define MEMSNAP_SOLVE_CHAIN_SEGMENT_COST_H

#include "solve/chain/chain.h"

struct segment_cost {
    const struct chain_option *option; /* whose results the segment keeps; NULL: none */
    int64_t kept;                      /* sum of xbar */
    int64_t stored;                    /* sum of the option's kept results */
    int64_t pinned;                    /* sum of chain.pinned: held until the segment runs again */
    int64_t again;                     /* maximum during the second forward, without x[end] */
    int64_t stop;    /* the same if the segment ends here: it stops at the last saved tensor */
    int64_t rest;    /* maximum during the first forward or the backward */
    int64_t forward; /* time of the second forward */
};

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Extends the cost of [first, l) by layer l. Results of layer l are held from its first forward on,
 * while the layers before it run again. */
static inline void segment_cost_add(struct segment_cost *cost, const struct chain *chain,
                                    size_t first, size_t l)
{
    const struct chain_option *option = cost->option;
    int64_t running = l > first ? chain->x[l] + chain_running(chain, l, chain->loose[l])
                                : chain_running(chain, l, 0);
    int64_t held = option ? option->kept[l] : 0, unsaved = option ? option->unsaved[l] : 0;
    cost->pinned += chain->pinned[l];
    cost->rest = larger(cost->rest, cost->stored + cost->pinned + running);
    cost->stored += held;
    cost->kept += chain->xbar[l];
    int64_t before = cost->again + held + chain->pinned[l];
    int64_t running_again = cost->kept + unsaved + chain->ftmp[l] - chain->outer[l];
    cost->again = larger(before, running_again);
    cost->stop = larger(before, running_again - chain_over(chain, option, l));
    cost->rest =
        larger(cost->rest, cost->kept + chain->x[l + 1] + chain->btmp[l] + chain->piling[l]);
    cost->forward += option ? option->forward[l] : chain->forward[l];
}

static inline int64_t segment_cost_peak(const struct segment_cost *cost, const struct chain *chain,
                                        size_t end)
{
    int64_t reading =
        end == chain->layers
            ? 0
            : cost->stored + cost->pinned + chain_stored(chain, end) + chain_reading(chain, end);
    return larger(larger(chain->x[end] + cost->stop + chain->piled[end], cost->rest), reading);
}

/* The time that a checkpoint adds: it stops at the last tensor that the segment saves. */
static inline int64_t segment_cost_time(const struct segment_cost *cost, const struct chain *chain,
                                        size_t end)
{
    const int64_t *tail = cost->option ? cost->option->tail : chain->tail;
    return larger(cost->forward - tail[end - 1], 0);
}

/* Bytes that the segment [first, end) holds while the layers after it run. */
static inline int64_t segment_cost_stored(const struct segment_cost *cost,
                                          const struct chain *chain, size_t first, size_t end)
{
    return chain_input(chain, first) + cost->stored + cost->pinned + chain_stored(chain, end);
}

/* A lower bound of the peak. It grows with the segment, so a search over longer ones can stop. */
static inline int64_t segment_cost_least(const struct segment_cost *cost)
{
    return larger(cost->stop, cost->rest);
}

/* The peak of layer i alone when it is not checkpointed. */
static inline int64_t kept_layer_peak(const struct chain *chain, size_t i)
{
    return chain->xbar[i] +
           larger(chain->ftmp[i], chain->x[i + 1] + chain->btmp[i] + chain->piling[i]);
}

#endif
