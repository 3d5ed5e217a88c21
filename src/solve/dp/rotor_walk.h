/* The schedule behind a cell of a cost table. */
#ifndef MEMSNAP_SOLVE_DP_ROTOR_WALK_H
#define MEMSNAP_SOLVE_DP_ROTOR_WALK_H

#include "solve/backend/cost_table.h"
#include "solve/chain/placement.h"

/* Of the whole chain with `slots`, where the table's value is finite; `schedule` is added to, and
 * `segments`, which were empty: what a split at s runs forward without keeping it, i..s-1, is a
 * checkpointed segment, within which its own splits are others. Of equal decisions keeping the
 * first layer comes first, then the first split. */
bool rotor_walk(const struct cost_problem *problem, const struct cost_table *table, int32_t slots,
                struct schedule *schedule, struct placement *segments, struct budget *budget,
                struct error *err);

#endif
