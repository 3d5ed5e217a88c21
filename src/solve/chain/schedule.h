/* A schedule: the operations of one training step, in order. Every plan is converted into one, so
 * that its peak can be verified by replay, in exact bytes, independently of the solver. A placement
 * of checkpoints is the usual plan. */
#ifndef MEMSNAP_SOLVE_CHAIN_SCHEDULE_H
#define MEMSNAP_SOLVE_CHAIN_SCHEDULE_H

#include "solve/chain/chain.h"

enum operation_kind {
    RUN_FORWARD,   /* keep nothing: the output lives until the next layer has run */
    RUN_AND_STORE, /* keep the output until the backward that reads it */
    RUN_AND_KEEP,  /* keep xbar until the layer's backward */
    RUN_BACKWARD,
};

struct operation {
    enum operation_kind kind;
    uint32_t layer;
    uint32_t option; /* forward: the chain's option whose results are kept, from 1; 0: none */
};

struct schedule {
    struct operation *operations;
    size_t count, capacity;
};

bool schedule_add(struct schedule *schedule, enum operation_kind kind, size_t layer,
                  struct budget *budget, struct error *err);
/* Adds forward operations of layers from..to-1; the last one keeps its output if `store`. */
bool schedule_run(struct schedule *schedule, size_t from, size_t to, bool store,
                  struct budget *budget, struct error *err);
void schedule_release(struct schedule *schedule, struct budget *budget);

struct replay_outcome {
    int64_t peak_bytes;  /* without x[0], which always exists */
    int64_t total_bytes; /* the peak with the gradients of parameters, which pile up in backward */
    int64_t extra_time;  /* of repeated forward passes */
};

/* Simulates the schedule. STATUS_IO if it is invalid: an operation lacks an input, or the backward
 * of a layer is missing or out of order. */
bool schedule_replay(const struct schedule *schedule, const struct chain *chain,
                     struct budget *budget, struct replay_outcome *outcome, struct error *err);

/* The runs of layers that are wrapped in torch.utils.checkpoint. A wrapped segment keeps only its
 * input; right before its backward it runs forward again and keeps all activations. Layers outside
 * segments keep theirs. */
struct wrapped {
    size_t first, end; /* layers first..end-1 */
    unsigned depth;    /* number of enclosing segments; 0 with one level of checkpoints */
    unsigned option;   /* the chain's option whose results are kept, too, from 1; 0: none */
};

struct placement {
    struct wrapped *segments; /* ascending, outer before inner; not empty; disjoint or nested */
    size_t count, capacity;
};

bool placement_add(struct placement *placement, size_t first, size_t end, struct budget *budget,
                   struct error *err);
void placement_release(struct placement *placement, struct budget *budget);

/* Adds segments that cover the layers first..end-1, as few as chain.reach allows. Layers that
 * cannot be wrapped stay outside of segments. */
bool placement_add_parts(struct placement *placement, const struct chain *chain, size_t first,
                         size_t end, struct budget *budget, struct error *err);

/* Adds about sqrt(n) segments of equal length, as in Chen, Xu, Zhang, Guestrin, "Training deep nets
 * with sublinear memory cost". */
bool placement_even(struct placement *placement, const struct chain *chain, struct budget *budget,
                    struct error *err);

/* Appends the operations of a training step to `schedule`. */
bool placement_schedule(const struct placement *placement, size_t layers, struct schedule *schedule,
                        struct budget *budget, struct error *err);

/* The part of the repeated forward passes that checkpoints leave out, because they stop at the last
 * tensor that is saved in their segment. schedule_replay() counts it. */
int64_t placement_saved_time(const struct placement *placement, const struct chain *chain);

/* Finds the exact peak and extra time by replay. */
bool placement_replay(const struct placement *placement, const struct chain *chain,
                      struct budget *budget, struct replay_outcome *outcome, struct error *err);

#endif
