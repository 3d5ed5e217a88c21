/* Tests that every kind of device must pass, and what they compare with. */
#ifndef MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H
#define MEMSNAP_TESTS_UNIT_DEVICES_DEVICES_H

#include "solve/backend/backend.h"

/* Computes the recurrence of cost_table.h cell by cell, into COST_ROWS: what every back end must
 * compute. */
bool cost_reference_solve(const struct cost_problem *problems, struct cost_table *tables,
                          size_t count, const struct backend_options *options, struct error *err);

/* Runs the cases, with `rounds` random batches and one in `every` pair of boundary sizes; with
 * MEMSNAP_SHARE in the environment fewer of both. Returns the exit status of a test: 77 if there is
 * no such device. */
int device_run(const struct backend *backend, unsigned rounds, unsigned every);

#endif
