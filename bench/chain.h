/* Input and clock shared by the solver benchmarks. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <stdlib.h>
#include <time.h>

#include "solve/cost/cost_table.h"

/* Seconds of CPU time of the process. */
static inline double bench_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A chain of random sizes and times. A layer takes the same memory forward and backward, because
 * the published solver does not distinguish the two. */
static inline void bench_chain(struct cost_problem *problem, int32_t layers, int32_t slots)
{
    size_t n = (size_t)layers;
    int32_t *numbers = calloc(5 * n + 1, sizeof(*numbers));
    if (!numbers)
        abort();
    int32_t *x = numbers, *xbar = x + n + 1, *ftmp = xbar + n, *btmp = ftmp + n;
    int32_t *forward = btmp + n;
    uint32_t chance = 12345;
    for (size_t i = 0; i <= n; i++) {
        chance = chance * 1664525 + 1013904223;
        x[i] = 1 + (int32_t)(chance >> 16) % (1 + slots / 40);
    }
    for (size_t i = 0; i < n; i++) {
        chance = chance * 1664525 + 1013904223;
        xbar[i] = x[i + 1] + (int32_t)(chance >> 16) % (1 + slots / 40);
        ftmp[i] = (int32_t)(chance >> 24) % 2;
        btmp[i] = ftmp[i];
        forward[i] = 1 + (int32_t)(chance >> 20) % 100;
    }
    *problem = (struct cost_problem){.layers = layers,
                                     .slots = slots,
                                     .x = x,
                                     .xbar = xbar,
                                     .ftmp = ftmp,
                                     .btmp = btmp,
                                     .forward = forward};
}

#endif
