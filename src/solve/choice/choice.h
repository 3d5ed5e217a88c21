/* The back ends of this program, and which of them solves a batch of problems. */
#ifndef MEMSNAP_SOLVE_CHOICE_CHOICE_H
#define MEMSNAP_SOLVE_CHOICE_CHOICE_H

#include "solve/backend/backend.h"
#include "solve/cpu/cpu.h"

extern const struct backend *const backends[]; /* the CPU first; ends with NULL */

/* The back end of that name, or NULL. */
const struct backend *backend_find(const char *name);

/* The available back end with the least estimated time. A device is asked whether it is available
 * only if it would save at least BACKEND_WORTH_SECONDS, and is not chosen if it is a CPU. */
#define BACKEND_WORTH_SECONDS 0.1
const struct backend *backend_choose(const struct cost_problem *problems, size_t count,
                                     unsigned threads);

/* The other end of solve/backend/remote.h: answers requests until the pipe is closed or a request
 * is malformed. Runs in the process that may start drivers. */
void remote_serve(int from, int to);

#endif
