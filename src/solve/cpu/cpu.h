/* The back end that is always there: vector instructions and threads. */
#ifndef MEMSNAP_SOLVE_CPU_CPU_H
#define MEMSNAP_SOLVE_CPU_CPU_H

#include "solve/backend/backend.h"

extern const struct backend backend_cpu;

/* The least memory that backend_cpu fills a table of `layers` and `slots` in, the table included,
 * as one thread; SIZE_MAX when that is beyond what size_t holds. More threads take more. */
size_t backend_cpu_bytes(size_t layers, size_t slots);

#endif
