/* Layer times measured by the user: `memsnap suggest --times FILE`.
 *
 * One line for each layer: its name, a tab, the microseconds of its forward pass and, after another
 * tab, those of its backward pass, if known. Empty lines and lines that begin with '#' are ignored.
 */
#ifndef MEMSNAP_SOLVE_PROBLEM_LAYER_TIMES_H
#define MEMSNAP_SOLVE_PROBLEM_LAYER_TIMES_H

#include "solve/problem/problem.h"

#define LAYER_TIMES_MOST ((size_t)16 << 20) /* largest size of such a file in bytes */

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

/* `text` must outlive the times. STATUS_USAGE, naming `path` and the line, if a line is malformed.
 */
bool layer_times_parse(struct layer_times *times, const char *path, const char *text, size_t size,
                       struct budget *budget, struct error *err);
void layer_times_release(struct layer_times *times);

/* Sets the times of the pieces of a problem. A module of a piece takes the time of the line with
 * its name, or else the total of its rows' lines; "NAME [3]" also matches the line of "NAME".
 * STATUS_USAGE, naming the first module without a line. Backward times are only used if all used
 * lines have one. `trace` has the names of the rows. */
bool problem_set_times(struct problem *problem, const struct layer_trace *trace,
                       const struct layer_times *times, struct error *err);

/* Transfers the times of `problem` to `finer`, the same trace in smaller pieces, so that both have
 * the same total. A piece's time is divided among its rows in proportion to their own lines if all
 * have one, else to their activations. */
void problem_divide_times(struct problem *finer, const struct problem *problem,
                          const struct layer_trace *trace, const struct layer_times *times);

#endif
