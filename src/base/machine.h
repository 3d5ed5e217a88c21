/* Properties of the machine. */
#ifndef MEMSNAP_BASE_MACHINE_H
#define MEMSNAP_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory this process may use: the machine's memory, or the lowest limit of its control
 * groups (version 1 or 2) if that is less. `root` is prepended to /proc and /sys; it is "" outside
 * of tests. */
uint64_t machine_memory(const char *root);

#endif
