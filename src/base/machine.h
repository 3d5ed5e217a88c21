/* What the machine has. */
#ifndef MEMSNAP_BASE_MACHINE_H
#define MEMSNAP_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory this process may count on: the machine's, or the lowest
 * limit of its control groups (version 1 or 2) where that is less.
 * `root` precedes /proc and /sys; "" outside of tests. */
uint64_t machine_memory(const char *root);

#endif
