/* How long a schedule keeps what several layers read (chain.shared). */
#ifndef MEMSNAP_SOLVE_CHAIN_SHARED_H
#define MEMSNAP_SOLVE_CHAIN_SHARED_H

#include "solve/chain/schedule.h"

/* Bytes of shared storages, by layer. */
struct shared_times {
    int64_t *made; /* made by the first forward of the layer */
    int64_t *read; /* freed after the first forward of the layer: no checkpoint holds them */
    int64_t *held; /* freed with the backward of the layer: the first checkpoint that holds them
                      begins with the layer */
    unsigned char *begins; /* a checkpoint begins with the layer */
};

bool shared_times_find(struct shared_times *times, const struct chain *chain,
                       const struct schedule *schedule, struct budget *budget, struct error *err);
void shared_times_release(struct shared_times *times, const struct chain *chain,
                          struct budget *budget);

#endif
