/* Runs a recorded program from a cold start, with any settings of the allocator and any amount of
 * memory. What was live before the recording is requested first, in the order of addresses. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_WHAT_IF_H
#define MEMSNAP_ANALYSIS_REPLAY_WHAT_IF_H

#include "analysis/replay/program.h"

/* Reserved memory after a step that changed it. */
struct reserved_point {
    int64_t item; /* of the trace; -1: before the first item */
    uint64_t reserved;
};

struct reserved_points {
    struct reserved_point *items;
    size_t count, capacity;
};

struct what_if {
    struct allocator_settings settings;
    enum tie_break tie_break;
    struct allocator_device device;
    bool no_tries;                  /* leave out requests that ran out of memory in the recording */
    bool no_empty_cache;            /* leave out empty_cache() */
    bool stops;                     /* end when a request does not fit */
    struct reserved_points *points; /* where to add the curve; NULL: nowhere */
    struct budget *budget;
};

struct what_if_result {
    struct allocator_totals totals;
    size_t steps; /* steps done: fewer than the program has if what_if.stops ended it */
    /* totals.ooms > 0: the items of the first and the last request that did not fit */
    int64_t first_failed, last_failed; /* -1: before the first item */
    bool fails_more;                   /* requests that succeeded in the recording are among them */
};

bool what_if_run(const struct program *program, const struct what_if *question,
                 struct what_if_result *result, struct error *err);

#define CAPACITY_STEP UINT64_C(2097152)

/* The least capacity, in whole CAPACITY_STEPs, with which everything fits, by bisection. `free_run`
 * is the result without a limit, in which everything fits. */
bool what_if_least_capacity(const struct program *program, const struct what_if *question,
                            const struct what_if_result *free_run, uint64_t *capacity,
                            struct error *err);

#endif
