/* How long a schedule keeps what several layers read (chain.shared). */
#ifndef MEMSNAP_SOLVE_CHAIN_SHARED_H
#define MEMSNAP_SOLVE_CHAIN_SHARED_H

#include "solve/chain/schedule.h"

/* Bytes by layer: made in its first forward; freed when that has run, because no checkpoint holds
 * them; freed with its backward, because the first checkpoint that holds them begins with it. */
struct shared_times {
    int64_t *made, *read, *held;
    unsigned char *begins; /* a checkpoint begins with the layer */
};

bool shared_times_find(struct shared_times *times, const struct chain *chain,
                       const struct schedule *schedule, struct budget *budget, struct error *err);
void shared_times_release(struct shared_times *times, const struct chain *chain,
                          struct budget *budget);

#endif
