/* Lower bounds on a device's memory. A capture does not hold its size. */
#ifndef MEMSNAP_ANALYSIS_POOL_DEVICE_MEMORY_H
#define MEMSNAP_ANALYSIS_POOL_DEVICE_MEMORY_H

#include "base/error.h"
#include "model/timeline.h"

/* The largest amount that was ever reserved, or reserved and free together. The device has at least
 * that much. */
uint64_t device_memory_least(const struct timeline *timeline);

/* Fails with STATUS_USAGE if the capture shows that the device has more than the user says
 * (--gpu-memory). `said_bytes` is 0 if the user said nothing. */
bool device_memory_check(const struct timeline *timeline, uint64_t said_bytes, struct error *err);

#endif
