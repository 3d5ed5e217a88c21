/* Memory of this machine, for programs that run in parallel. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_HOST_MEMORY_H
#define MEMSNAP_COMMANDS_DRYRUN_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if there is memory for one more program beside `running` others. Each may take half as much
 * again as `bytes`. */
bool host_memory_has(uint64_t bytes, size_t running);

#endif
