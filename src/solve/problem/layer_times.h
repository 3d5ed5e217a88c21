/* How long layers take, as a user measured it: `memsnap suggest --times FILE`.
 *
 * A line a layer: its name, a tab, the microseconds of its forward pass and, after another tab, of
 * its backward pass, if known. Empty lines, and those that begin with '#', do not count. */
#ifndef MEMSNAP_SOLVE_PROBLEM_LAYER_TIMES_H
#define MEMSNAP_SOLVE_PROBLEM_LAYER_TIMES_H

#include "solve/problem/problem.h"

#define LAYER_TIMES_MOST ((size_t)16 << 20) /* bytes of such a file */

struct layer_time {
    struct text name;  /* points into the text */
    double forward_us; /* finite, not negative */
    double backward_us;
    bool has_backward;
};

struct layer_times {
    struct layer_time *items; /* by name */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* `text` outlives the times. STATUS_USAGE, naming `path` and the line, where a line is none. */
bool layer_times_parse(struct layer_times *times, const char *path, const char *text, size_t size,
                       struct budget *budget, struct error *err);
void layer_times_release(struct layer_times *times);

/* Gives the pieces of a problem these times. A module of a piece takes what the line with its name
 * says, else what those of its rows say together; "NAME [3]" also takes the line of "NAME".
 * STATUS_USAGE, naming the first, where one has no line. The time of the backward pass is taken
 * from the lines only where all that are used have one. `trace` has the names of the rows. */
bool problem_set_times(struct problem *problem, const struct layer_trace *trace,
                       const struct layer_times *times, struct error *err);

/* Gives `finer`, the same trace in smaller pieces, the times that `problem` was given, so that both
 * add up to the same: a piece's time is divided among its rows by their own lines, where all have
 * one, else by their activations. */
void problem_divide_times(struct problem *finer, const struct problem *problem,
                          const struct layer_trace *trace, const struct layer_times *times);

#endif
