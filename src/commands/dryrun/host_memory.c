#include "commands/dryrun/host_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/budget.h"

/* Memory that can be taken without swapping; UINT64_MAX if unknown. */
static uint64_t available(void)
{
    char line[128];
    uint64_t kib, bytes = UINT64_MAX;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            bytes = kib * 1024;
    if (file)
        fclose(file);
    return bytes;
}

bool host_memory_has(uint64_t bytes, size_t running)
{
    uint64_t each = bytes + bytes / 2, free = available(), limit = machine_memory("") / 4 * 3;
    return each <= free && each * (running + 1) <= limit;
}
