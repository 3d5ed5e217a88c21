/* The back end that is always available: vector instructions and threads. */
#ifndef MEMSNAP_SOLVE_CPU_CPU_H
#define MEMSNAP_SOLVE_CPU_CPU_H

#include "solve/backend/backend.h"

extern const struct backend backend_cpu;

/* The least memory in which backend_cpu fills a table of `layers` and `slots` with one thread,
 * including the table; SIZE_MAX if that exceeds size_t. More threads take more. */
size_t backend_cpu_bytes(size_t layers, size_t slots);

#endif
