/* Checkpoints of one level: which runs of layers are wrapped, as torch.utils.checkpoint does it. A
 * wrapped segment keeps its input only, and runs forward again, keeping all, right before its
 * backward. Layers in no segment keep what they need. */
#ifndef MEMSNAP_SOLVE_CHAIN_PLACEMENT_H
#define MEMSNAP_SOLVE_CHAIN_PLACEMENT_H

#include "solve/chain/schedule.h"

struct wrapped {
    size_t first, end; /* layers first..end-1 */
    unsigned depth;    /* of one level: 0; else in so many others (solve/dp/rotor.h) */
};

struct placement {
    struct wrapped *segments; /* ascending, the outer one first; none empty, none overlapping but
                                 for those within another */
    size_t count, capacity;
};

bool placement_add(struct placement *placement, size_t first, size_t end, struct budget *budget,
                   struct error *err);
void placement_release(struct placement *placement, struct budget *budget);

/* About sqrt(n) segments as even as can be, as in Chen, Xu, Zhang, Guestrin, "Training deep nets
 * with sublinear memory cost". */
bool placement_even(struct placement *placement, size_t layers, struct budget *budget,
                    struct error *err);

/* The operations of a step; `schedule` is added to. */
bool placement_schedule(const struct placement *placement, size_t layers, struct schedule *schedule,
                        struct budget *budget, struct error *err);

/* The exact peak and extra time, by replay. */
bool placement_replay(const struct placement *placement, const struct chain *chain,
                      struct budget *budget, struct replay_outcome *outcome, struct error *err);

#endif
