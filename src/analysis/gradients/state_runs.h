/* Optimizer states by the run of the trace that made them, which tells how many an optimizer keeps
 * for each parameter. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_STATE_RUNS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_STATE_RUNS_H

#include "analysis/phase/phases.h"

#define STATE_LEAST_SIZE 4096 /* bytes; smaller states do not count */

struct optimizer_state {
    uint64_t size; /* bytes */
    uint32_t item; /* of the allocation */
    uint32_t run;  /* of phases->runs */
    stack_id stack;
};

struct state_runs {
    struct optimizer_state *items; /* by run, then by size, once sorted */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* The states of one run. */
struct state_run {
    const struct optimizer_state *states; /* by size */
    size_t count;
};

/* Adds a lifetime that holds optimizer state, unless it is small, such as a count of steps. */
bool state_runs_add(struct state_runs *runs, const struct timeline *timeline,
                    const struct phases *phases, size_t lifetime, struct error *err);
void state_runs_sort(struct state_runs *runs);
void state_runs_release(struct state_runs *runs);

/* The run that begins at items[from]; false at the end. The next one begins at from + run->count.
 */
bool state_runs_at(const struct state_runs *runs, size_t from, struct state_run *run);

/* The number of states that an optimizer keeps for each parameter, told by the lines of code that
 * make them: each state has a line of its own. 0 if it is not known. */
size_t state_run_each(const struct state_run *run);

/* The number of states from `begin` on that have its size. */
size_t state_run_same(const struct state_run *run, size_t begin);

#endif
