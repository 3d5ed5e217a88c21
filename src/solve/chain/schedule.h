/* A schedule: the operations of one training step, in order. Any plan becomes one, so that what it
 * promises can be checked by replaying it, in exact bytes, without knowing who made it. */
#ifndef MEMSNAP_SOLVE_CHAIN_SCHEDULE_H
#define MEMSNAP_SOLVE_CHAIN_SCHEDULE_H

#include "solve/chain/chain.h"

enum operation_kind {
    RUN_FORWARD,   /* of the layer, keeping nothing: its output is for the next layer only */
    RUN_AND_STORE, /* the same, but the output is kept until it was used backward */
    RUN_AND_KEEP,  /* forward, keeping xbar until the layer's backward */
    RUN_BACKWARD,
};

struct operation {
    enum operation_kind kind;
    uint32_t layer;
};

struct schedule {
    struct operation *operations;
    size_t count, capacity;
};

bool schedule_add(struct schedule *schedule, enum operation_kind kind, size_t layer,
                  struct budget *budget, struct error *err);
/* Layers from..to-1 forward, the output of the last kept if `store`. */
bool schedule_run(struct schedule *schedule, size_t from, size_t to, bool store,
                  struct budget *budget, struct error *err);
void schedule_release(struct schedule *schedule, struct budget *budget);

struct replay_outcome {
    int64_t peak_bytes; /* x[0], which is there throughout, not counted */
    int64_t extra_time; /* of forward passes that ran before */
};

/* Runs the schedule on paper. False, with STATUS_IO, where it is none: an operation lacks what it
 * needs, or the backward of a layer is missing or out of order. */
bool schedule_replay(const struct schedule *schedule, const struct chain *chain,
                     struct budget *budget, struct replay_outcome *outcome, struct error *err);

#endif
