/* Devices in another process.
 *
 * A process that has given up opening files and loading code can start no driver, and a driver may
 * crash. So what reads untrusted bytes starts a process before it gives that up
 * (commands/sandbox/device_process.h), which does nothing until it is asked; what goes there and
 * back are the integers of cost_table.h. The two trust each other as the parts of one program do,
 * but that the server checks what it is asked as it would check any problem. */
#ifndef MEMSNAP_SOLVE_BACKEND_REMOTE_H
#define MEMSNAP_SOLVE_BACKEND_REMOTE_H

#include "solve/backend/backend.h"

/* From now on the back ends of this process that are devices ask the one at the other end of these
 * pipes. Negative: there is none, and no device. The pipes stay the caller's. */
void remote_connect(int to, int from);
bool remote_is_connected(void);
/* Devices are this process's own again, as at the beginning. */
void remote_disconnect(void);

/* backend.available and backend.solve of `device` there. Tables are read into COST_ROWS; while they
 * are under way the budget counts them twice, for both processes have them. */
bool remote_available(const struct backend *device, struct backend_place *place);
bool remote_solve(const struct backend *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err);

#endif
