/* A process that runs the drivers of GPUs, for a process in the sandbox, where drivers cannot
 * run. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_DEVICE_PROCESS_H
#define MEMSNAP_COMMANDS_SANDBOX_DEVICE_PROCESS_H

#include <stdbool.h>

/* Starts it. To be called before sandbox_enter(), before any file is opened, and while there are no
 * other threads. From then on, the back ends of `solve` use devices through it
 * (solve/backend/remote.h). It loads no driver before a device is asked for, prints nothing, and
 * ends with this process. If it cannot be started, no device is available. */
void device_process_start(void);

/* Ends it; cannot be called in the sandbox. True if it ended normally, or if there was none. False
 * if it had crashed or been killed. Another one may be started afterwards. */
bool device_process_stop(void);

#endif
