/* A process for what drives GPUs, beside one that gives up what drivers need. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_DEVICE_PROCESS_H
#define MEMSNAP_COMMANDS_SANDBOX_DEVICE_PROCESS_H

#include <stdbool.h>

/* Starts it, before sandbox_enter(), before any file is opened and while there are no other
 * threads. From then on solve's back ends use devices through it (solve/backend/remote.h). It loads
 * nothing until a device is asked for, says nothing, and ends with this process. Where it cannot be
 * started, no device is available. */
void device_process_start(void);

/* Ends it; not for the sandbox. True where it ended by itself, or there was none; false where it
 * had crashed or been killed. Another may be started. */
bool device_process_stop(void);

#endif
