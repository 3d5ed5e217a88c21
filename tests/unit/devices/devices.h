/* What every kind of device must do. */
#ifndef MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H
#define MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H

#include "solve/backend/backend.h"

/* Runs the cases, with `rounds` random batches and one in `every` pair of sizes at edges. Returns
 * the exit status of a test: 77 where there is no such device. */
int device_run(const struct backend *backend, unsigned rounds, unsigned every);

#endif
