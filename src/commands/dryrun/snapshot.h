/* The snapshot of a dry run: where it is kept, and its peaks. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_SNAPSHOT_H
#define MEMSNAP_COMMANDS_DRYRUN_SNAPSHOT_H

#include <stdint.h>

#include "commands/cli/new_file.h"
#include "commands/dryrun/folder.h"

/* Copies a file of the folder to `file` and gives it its final name, which is `output` in messages.
 */
bool dryrun_snapshot_keep(const struct dryrun_folder *folder, const char *name,
                          struct new_file *file, const char *output, struct error *err);

/* The peaks of the device that has the highest peak of active memory. */
struct dryrun_peaks {
    uint64_t active_bytes, reserved_bytes;
};

/* Reads the peaks of a file of the folder, in a process of its own in the sandbox. */
bool dryrun_snapshot_peaks(const struct dryrun_folder *folder, const char *name,
                           struct dryrun_peaks *peaks, struct error *err);

#endif
