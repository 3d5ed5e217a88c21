/* Devices in another process.
 *
 * A sandboxed process can open no file and load no code, so it cannot start a driver; and a driver
 * may crash. So before a process enters the sandbox it starts another one
 * (commands/sandbox/device_process.h), which waits for requests. Only the integers of cost_table.h
 * are exchanged. The two trust each other as parts of one program, except that the server checks
 * every problem (cost_problem_check). */
#ifndef MEMSNAP_SOLVE_BACKEND_REMOTE_H
#define MEMSNAP_SOLVE_BACKEND_REMOTE_H

#include "solve/backend/backend.h"

/* From now on the device back ends of this process send their requests through these pipes, which
 * the caller keeps open and owns. Negative: no device is available. */
void remote_connect(int to, int from);
bool remote_is_connected(void);
/* The device back ends use drivers in this process again, as at the beginning. */
void remote_disconnect(void);

/* backend.available and backend.solve of `device` in the other process. Tables are read into
 * COST_ROWS. During the transfer the budget counts them twice, since both processes hold them. */
bool remote_available(const struct backend *device, struct backend_place *place);
bool remote_solve(const struct backend *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err);

#endif
