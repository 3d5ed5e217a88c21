/* How much memory a device has, as far as a capture tells: it holds no such figure. */
#ifndef MEMSNAP_ANALYSIS_POOL_DEVICE_MEMORY_H
#define MEMSNAP_ANALYSIS_POOL_DEVICE_MEMORY_H

#include "base/error.h"
#include "model/timeline.h"

/* The most that was ever reserved, or reserved and free together: the device has at least so
 * much. */
uint64_t device_memory_least(const struct timeline *timeline);

/* False, with STATUS_USAGE, where the capture disproves what the user says the device has
 * (--gpu-memory). `said_bytes`: 0 where nothing was said. */
bool device_memory_check(const struct timeline *timeline, uint64_t said_bytes, struct error *err);

#endif
