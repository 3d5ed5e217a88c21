/* The runs of layers that are wrapped in torch.utils.checkpoint. A wrapped segment keeps only its
 * input; right before its backward it runs forward again and keeps all activations. Layers outside
 * segments keep theirs. */
#ifndef MEMSNAP_SOLVE_CHAIN_PLACEMENT_H
#define MEMSNAP_SOLVE_CHAIN_PLACEMENT_H

#include "solve/chain/schedule.h"

struct wrapped {
    size_t first, end; /* layers first..end-1 */
    unsigned depth;    /* number of enclosing segments; 0 with one level of checkpoints */
};

struct placement {
    struct wrapped *segments; /* ascending, outer before inner; not empty; disjoint or nested */
    size_t count, capacity;
};

bool placement_add(struct placement *placement, size_t first, size_t end, struct budget *budget,
                   struct error *err);
void placement_release(struct placement *placement, struct budget *budget);

/* Adds about sqrt(n) segments of equal length, as in Chen, Xu, Zhang, Guestrin, "Training deep nets
 * with sublinear memory cost". */
bool placement_even(struct placement *placement, size_t layers, struct budget *budget,
                    struct error *err);

/* Appends the operations of a training step to `schedule`. */
bool placement_schedule(const struct placement *placement, size_t layers, struct schedule *schedule,
                        struct budget *budget, struct error *err);

/* Finds the exact peak and extra time by replay. */
bool placement_replay(const struct placement *placement, const struct chain *chain,
                      struct budget *budget, struct replay_outcome *outcome, struct error *err);

#endif
