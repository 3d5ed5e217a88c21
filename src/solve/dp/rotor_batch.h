/* Problems of one chain that are solved together, a budget each: what solve/dp/rotor.h is made of.
 */
#ifndef MEMSNAP_SOLVE_DP_ROTOR_BATCH_H
#define MEMSNAP_SOLVE_DP_ROTOR_BATCH_H

#include "solve/dp/rotor.h"

struct rotor_problem {
    struct cost_problem problem; /* its arrays are owned */
    int64_t slot_bytes;
    int32_t within; /* slots that are surely within the budget; problem.slots may be more */
    bool exact;     /* no size was rounded */
    int32_t *arrays;
    size_t bytes;
};

/* Filled with the chain, how many problems, and the budget that memory is counted in. */
struct rotor_batch {
    const struct chain *chain;
    size_t count;
    struct budget *budget;

    struct rotor_problem *scaled;
    struct cost_problem *problems;
    struct cost_table *tables;
    size_t bytes;
    size_t reusable; /* bytes of a table that the caller puts into `tables` after preparing */
    enum rotor_limit limit;
    size_t slots;   /* that each budget is divided into, unless sizes need fewer */
    bool on_device; /* that has filled all tables */
    unsigned threads;
};

/* A problem a budget (bytes), each divided into about `slots`; 0: as many as take a second. */
bool rotor_batch_prepare(struct rotor_batch *batch, const int64_t *budgets, size_t slots,
                         struct error *err);
/* Has a device fill all tables at once, where the options or the sizes are for that; else, or where
 * it fails, leaves them to the CPU. */
bool rotor_batch_begin(struct rotor_batch *batch, const struct rotor_options *options,
                       struct rotor_report *report, struct error *err);
/* Table k, filled: one after the other, for the CPU does so in the memory of the one before. */
bool rotor_batch_fill(struct rotor_batch *batch, size_t k, struct error *err);
/* *plan becomes the schedule of problem k with m slots, replayed; what it was is released. */
bool rotor_batch_plan(const struct rotor_batch *batch, size_t k, int32_t m, struct rotor_plan *plan,
                      struct error *err);
void rotor_batch_release(struct rotor_batch *batch); /* also what was never prepared */

/* Of the whole chain with `slots`, where the table's value is finite; `schedule` is added to, and
 * `segments`, which were empty: what a split at s runs forward without keeping it, i..s-1, is a
 * checkpointed segment, within which its own splits are others. Of equal decisions keeping the
 * first layer comes first, then the first split. */
bool rotor_walk(const struct cost_problem *problem, const struct cost_table *table, int32_t slots,
                struct schedule *schedule, struct placement *segments, struct budget *budget,
                struct error *err);

#endif
