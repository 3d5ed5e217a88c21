/* Internal to solve/dp/rotor: the cost problems of one chain, one for each budget, solved together.
 */
#ifndef MEMSNAP_SOLVE_DP_ROTOR_BATCH_H
#define MEMSNAP_SOLVE_DP_ROTOR_BATCH_H

#include "solve/dp/rotor.h"

/* A chain and a budget as a problem for a cost table: bytes become slots, times become units. */
struct rotor_problem {
    struct cost_problem problem; /* its arrays are owned */
    int64_t slot_bytes;
    int32_t within; /* slots that certainly fit the budget; problem.slots may be more */
    bool exact;     /* no size was rounded */
    int32_t *arrays;
    size_t bytes;
};

/* The caller sets the first three fields, and `reusable`. */
struct rotor_batch {
    const struct chain *chain;
    size_t count;
    struct budget *budget;

    struct rotor_problem *scaled;
    struct cost_problem *problems;
    struct cost_table *tables;
    size_t bytes;
    size_t reusable; /* bytes of a table that the caller moves into `tables` after preparing */
    enum rotor_limit limit;
    size_t slots; /* number of slots in each budget; fewer are used if all sizes are multiples of a
                     unit */
    bool on_device; /* a device has filled all tables */
    unsigned threads;
};

/* Makes one problem for each budget (bytes), divided into about `slots`; 0: as many as take a
 * second. */
bool rotor_batch_prepare(struct rotor_batch *batch, const int64_t *budgets, size_t slots,
                         struct error *err);
/* Lets a device fill all tables at once if the options or the estimated time call for one. If there
 * is none, or it fails, rotor_batch_fill() fills them on the CPU. */
bool rotor_batch_begin(struct rotor_batch *batch, const struct rotor_options *options,
                       struct rotor_report *report, struct error *err);
/* Fills table k. Call it in ascending order: the CPU reuses the memory of table k-1. */
bool rotor_batch_fill(struct rotor_batch *batch, size_t k, struct error *err);
/* Replaces *plan by the schedule of problem k with m slots, with its exact peak and time from
 * replay. The former plan is released. */
bool rotor_batch_plan(const struct rotor_batch *batch, size_t k, int32_t m, struct rotor_plan *plan,
                      struct error *err);
void rotor_batch_release(struct rotor_batch *batch); /* an unprepared batch is allowed */

/* Reads the optimal schedule of the whole chain with `slots` from a filled table, whose value there
 * is finite. Appends the operations to `schedule` and the checkpointed segments to `segments`,
 * which is empty: a split at s makes layers i..s-1 a segment, and splits within it make nested
 * ones. Ties: keeping the first layer comes first, then the lowest split. */
bool rotor_walk(const struct cost_problem *problem, const struct cost_table *table, int32_t slots,
                struct schedule *schedule, struct placement *segments, struct budget *budget,
                struct error *err);

#endif
