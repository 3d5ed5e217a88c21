/* All there is to choose from with one level of checkpoints: memory against extra time.
 *
 *   Q(i,t) = min( max(all(i), xbar[i] + Q(i+1,t)),
 *                 min over s of max(C(i,s), x[s] + Q(s, t - F(i,s))) )
 *
 * is the least memory of layers i.. with the time t spent on running forward again; F(i,s) is the
 * time of [i,s). Memory is exact, and so is the time of whatever is found. But of all that takes
 * about as long, within one slot of time, only what takes the least memory is followed further: a
 * point may miss the best for its memory by some slots, unless the times' common unit is a slot.
 * And of points that differ by less than one in FRONT_TOLD_APART of the time of a forward pass,
 * there is the one with less memory. */
#ifndef MEMSNAP_SOLVE_DP_FRONT_H
#define MEMSNAP_SOLVE_DP_FRONT_H

#include "solve/chain/placement.h"

#define FRONT_MOST_LAYERS 4096
#define FRONT_LEAST_SLOTS 100 /* of the time of a forward pass */
#define FRONT_TOLD_APART  1000

struct front_point {
    int64_t peak_bytes;
    int64_t extra_time;
};

struct front_state;

struct front {
    struct front_point *points; /* memory ascending, extra time descending; the last is 0 */
    size_t count, capacity;

    /* what placements are found from */
    const struct chain *chain; /* not owned */
    struct front_state *states;
    size_t state_count, state_capacity;
    size_t *starts; /* [n+2] the states of layers i.. lie from starts[i+1] to starts[i] */
    size_t start_capacity;
};

/* The chain stays. STATUS_LIMIT beyond FRONT_MOST_LAYERS or the budget. At most a second or two:
 * the more there is to try, the fewer slots. */
bool front_create(struct front *front, const struct chain *chain, struct budget *budget,
                  struct error *err);
void front_release(struct front *front, struct budget *budget);

/* The placement with the least extra time within `bytes`: its point; NULL where none fits. */
const struct front_point *front_within(const struct front *front, int64_t bytes);

/* `placement` is added to. */
bool front_place(const struct front *front, const struct front_point *point,
                 struct placement *placement, struct budget *budget, struct error *err);

/* marks[0..count) true at the front's corners, where more time begins to buy clearly less memory:
 * at most `most`, the sharpest first, never the ends. */
void front_knees(const struct front *front, bool *marks, size_t most);

#endif
