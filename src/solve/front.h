/* All there is to choose from with one level of checkpoints: memory against extra time.
 *
 *   Q(i,t) = min( max(all(i), xbar[i] + Q(i+1,t)),
 *                 min over s of max(C(i,s), x[s] + Q(s, t - F(i,s))) )
 *
 * is the least memory of layers i.. with at most t slots of time spent on running forward again;
 * F(i,s) is the time of [i,s). Memory is exact. Time is counted in slots only while the search
 * runs: a prefix of the chain is rounded to the nearest slot, so a segment is off by one slot at
 * most; points carry their exact times. */
#ifndef MEMSNAP_SOLVE_FRONT_H
#define MEMSNAP_SOLVE_FRONT_H

#include "solve/placement.h"

#define FRONT_MOST_LAYERS 4096

struct front_point {
    int64_t peak_bytes;
    int64_t extra_time;
    size_t slot; /* to ask front_place() for */
};

struct front {
    struct front_point *points; /* memory ascending, extra time descending; the last is 0 */
    size_t count, capacity;

    /* what placements are found from */
    const struct chain *chain; /* not owned */
    size_t slots;              /* t = 0..slots */
    bool exact;                /* no time was rounded */
    uint32_t *prefix;          /* [n+1] time before layer i, in slots */
    double *table;             /* [n+1][slots+1]: integers */
    size_t table_bytes;
};

/* The chain stays. STATUS_LIMIT beyond FRONT_MOST_LAYERS or the budget. At most a second or two:
 * the more layers, the fewer slots. */
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
