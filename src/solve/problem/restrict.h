/* Restricts which layers a plan may checkpoint, by patterns of names.
 *
 * A pattern matches a layer if it matches its name or a prefix of it that ends before a '.' or a
 * ' ': `encoder` matches encoder.layers.0, and `model.py:93` matches "model.py:93 forward [2]". */
#ifndef MEMSNAP_SOLVE_PROBLEM_RESTRICT_H
#define MEMSNAP_SOLVE_PROBLEM_RESTRICT_H

#include "solve/problem/problem.h"

#define RESTRICT_MOST 32 /* patterns of a kind */

struct patterns {
    const char *items[RESTRICT_MOST]; /* pattern_matches() */
    size_t count;
};

struct restriction {
    struct patterns only; /* if there are any: all that a plan may have */
    struct patterns keep; /* never in a plan */
};

/* Removes pieces from plans: those in which any module or row matches `keep`, and those in which
 * neither all modules nor all rows match `only`. The model itself, which has no name, is always
 * removed, because it would wrap everything. STATUS_USAGE if a pattern matches nothing; `what`
 * ("module" or "line") names what it could match. */
bool problem_restrict(struct problem *problem, const struct layer_trace *trace,
                      const struct restriction *restriction, const char *what, struct error *err);

#endif
