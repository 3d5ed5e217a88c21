/* The Pareto front of memory against extra time with one level of checkpoints.
 *
 *   Q(i,t) = min( max(all(i), xbar[i] + Q(i+1,t)),
 *                 min over s of max(C(i,s), x[s] + Q(s, t - F(i,s))) )
 *
 * is the least memory of layers i.. with time t for repeated forward passes; F(i,s) is the time of
 * [i,s), C(i,s) the peak of a segment (solve/chain/segment_cost.h). Memory and time of every point
 * are exact. But time is divided into slots, and of the partial placements in one slot only the one
 * with the least memory is extended: a point may miss the optimum by a few slots, unless all times
 * are multiples of a slot. Of points whose times differ by less than 1/FRONT_TOLD_APART of a
 * forward pass, only the one with less memory is reported. */
#ifndef MEMSNAP_SOLVE_DP_FRONT_H
#define MEMSNAP_SOLVE_DP_FRONT_H

#include "solve/chain/schedule.h"

#define FRONT_MOST_LAYERS 4096
#define FRONT_LEAST_SLOTS 100 /* slots in the time of a forward pass */
#define FRONT_TOLD_APART  10000

struct front_point {
    int64_t peak_bytes;
    int64_t extra_time;
    int64_t total_bytes; /* as in struct replay_outcome, if front_weigh_totals() found it; else 0 */
    bool by_total;       /* a placement of front.totals->front */
};

struct front_state;

struct front {
    struct front_point *points; /* memory ascending, extra time descending; the last is 0 */
    size_t count, capacity;
    struct front_point least; /* the least memory; the least total after front_weigh_totals(), which
                                 may take more memory than points[0] */

    /* internal: placements are rebuilt from these */
    const struct chain *chain; /* not owned */
    struct front_state *states;
    size_t state_count, state_capacity;
    size_t *starts; /* [n+2] the states of layers i.. are starts[i+1]..starts[i]-1 */
    size_t start_capacity;
    struct front_totals *totals; /* NULL before front_weigh_totals() */
};

/* Placements with the least total for their time. */
struct front_totals {
    struct chain chain; /* with gradients */
    struct front front;
};

/* The chain must outlive the front. STATUS_LIMIT beyond FRONT_MOST_LAYERS or the budget. Takes at
 * most a second or two: longer chains get fewer slots. */
bool front_create(struct front *front, const struct chain *chain, struct budget *budget,
                  struct error *err);
void front_release(struct front *front, struct budget *budget);

/* For chains with gradients of parameters. These pile up while few activations are left, so a plan
 * with fewer bytes of activations may have a larger total. Adds the points with the least total for
 * their time, finds the totals of all points, and drops each point that takes more time than
 * another without having a smaller total. Points still have ascending memory. */
bool front_weigh_totals(struct front *front, struct budget *budget, struct error *err);

/* The point with the least extra time whose peak is at most `bytes`, or NULL. */
const struct front_point *front_within(const struct front *front, int64_t bytes);

/* Appends the segments of a point to `placement`. */
bool front_place(const struct front *front, const struct front_point *point,
                 struct placement *placement, struct budget *budget, struct error *err);

/* Sets marks[i] for each knee of the front, where less memory begins to cost clearly more time.
 * Marks at most `most` knees, the sharpest first, and never an end point. `marks` has front->count
 * items. */
void front_knees(const struct front *front, bool *marks, size_t most);

#endif
