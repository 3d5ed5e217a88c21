/* Optimal persistent schedules (model `rotor`): checkpoints within checkpoints. They fit into
 * budgets into which one level of checkpoints does not, and take less time at tight budgets.
 * Algorithm: Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, hal-02352969; recurrence:
 * solve/cost/cost_table.h.
 *
 * The search counts memory in slots. Every size is rounded up, which wastes half a slot per tensor
 * held. So the search covers a few more slots than the budget has, and the fastest schedule whose
 * exact peak, found by replay, fits the budget is taken. */
#ifndef MEMSNAP_SOLVE_DP_ROTOR_H
#define MEMSNAP_SOLVE_DP_ROTOR_H

#include "solve/chain/schedule.h"
#include "solve/choice/choice.h"

#define ROTOR_MOST_LAYERS 1024

struct rotor_options {
    const struct backend *backend; /* NULL: backend_choose() */
    unsigned threads;              /* as in backend_options */
    size_t slots; /* slots that a budget is divided into; 0: as many as take a second. Reduced if
                     they would take minutes or too much memory */
};

struct rotor_plan {
    bool feasible; /* if not, only slot_bytes and exact are set */
    int64_t slot_bytes;
    bool exact;         /* every size is a whole number of slots, so the plan is optimal */
    int64_t peak_bytes; /* exact, by replay */
    int64_t extra_time;
    struct schedule schedule;
    struct placement segments; /* the same plan as nested checkpointed segments */
};

/* The reason why a search had fewer slots than requested. */
enum rotor_limit { ROTOR_NO_LIMIT, ROTOR_LIMIT_TIME, ROTOR_LIMIT_MEMORY };

struct rotor_report {
    const struct backend *backend; /* the back end that filled the tables */
    struct error device_error; /* of a device that failed first; status STATUS_OK: none failed */
    enum rotor_limit limit;
    size_t
        slots; /* only if limited: the largest number of slots within the limit, which was used */
};

/* Finds one plan for each budget (bytes, >= 0, x[0] not included), as one batch. STATUS_LIMIT
 * beyond ROTOR_MOST_LAYERS, or if `budget` has no memory for a single slot. */
bool rotor_solve(const struct chain *chain, const int64_t *budgets, size_t count,
                 const struct rotor_options *options, struct rotor_plan *plans,
                 struct rotor_report *report, struct budget *budget, struct error *err);

/* Finds the plan with the least peak, to the precision of a slot. */
bool rotor_least(const struct chain *chain, const struct rotor_options *options,
                 struct rotor_plan *plan, struct rotor_report *report, struct budget *budget,
                 struct error *err);

#define ROTOR_FRONT_POINTS 12

struct rotor_point {
    int64_t peak_bytes, extra_time; /* exact, by replay */
    size_t checkpoints;
};

struct rotor_front {
    struct rotor_point points[ROTOR_FRONT_POINTS]; /* memory ascending, extra time descending */
    size_t count;
};

/* Finds up to ROTOR_FRONT_POINTS trade-offs with a peak below `below` bytes. Runs on the CPU, with
 * `threads` as in rotor_options, for a fraction of a second. There are no points if the chain is
 * too long for that or the table exceeds `budget`. */
bool rotor_front_find(const struct chain *chain, int64_t below, unsigned threads,
                      struct rotor_front *front, struct budget *budget, struct error *err);

void rotor_plan_release(struct rotor_plan *plan, struct budget *budget);

#endif
