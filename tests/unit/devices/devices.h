/* Tests that every kind of device must pass. */
#ifndef MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H
#define MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H

#include "solve/backend/backend.h"

/* Runs the cases, with `rounds` random batches and one in `every` pair of boundary sizes. Returns
 * the exit status of a test: 77 if there is no such device. */
int device_run(const struct backend *backend, unsigned rounds, unsigned every);

#endif
