/* The reserved memory of every setting of a replay, in the columns of a picture. */
#ifndef MEMSNAP_ANALYSIS_CURVES_REPLAYED_H
#define MEMSNAP_ANALYSIS_CURVES_REPLAYED_H

#include "analysis/curves/sampling.h"
#include "analysis/replay/replay.h"

struct replay_curve {
    int64_t *reserved;  /* per column of the sampling: the maximum */
    int64_t peak_bytes; /* of all of them */
    size_t peak_column; /* the first that has it */
    size_t like;        /* the first row with an equal curve, which may be this one */
    size_t row;
};

/* One per row of the replay, in its order. */
struct replay_curves {
    struct replay_curve *items;
    size_t count;
};

/* `sampling` must be of the timeline that was replayed. */
bool replay_curves_make(struct replay_curves *curves, const struct device_replay *replay,
                        const struct sampling *sampling, struct error *err);
void replay_curves_release(struct replay_curves *curves);

#endif
