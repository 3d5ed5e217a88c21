/* What `memsnap export` writes, each from a file to an output that is open. */
#ifndef MEMSNAP_COMMANDS_EXPORT_TABLES_H
#define MEMSNAP_COMMANDS_EXPORT_TABLES_H

#include "commands/export/options.h"

struct export_job {
    const struct export_options *options;
    const char *path;
    FILE *out;
    const struct load_progress *progress;
};

/* Events, stacks and annotations, written while the file is read: nothing is held but names and
 * stacks. Reads `fd`, and closes it, as the others do. */
bool export_stream(const struct export_job *job, int fd, struct error *err);
/* Tables for which the whole trace must be known. */
bool export_capture(const struct export_job *job, int fd, struct error *err);
/* No table, but a snapshot of the range. */
bool export_snapshot(const struct export_job *job, int fd, struct error *err);

#endif
