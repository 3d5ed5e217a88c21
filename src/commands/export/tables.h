/* The outputs of `memsnap export`. Each function reads a file and writes to an open output. */
#ifndef MEMSNAP_COMMANDS_EXPORT_TABLES_H
#define MEMSNAP_COMMANDS_EXPORT_TABLES_H

#include "commands/export/options.h"

struct export_job {
    const struct export_options *options;
    const char *path;
    FILE *out;
    const struct load_progress *progress;
};

/* Events, stacks and annotations, written while the file is read: only names and stacks are held in
 * memory. Like the others, it reads and closes `fd`. */
bool export_stream(const struct export_job *job, int fd, struct error *err);
/* Tables that need the whole trace in memory. */
bool export_capture(const struct export_job *job, int fd, struct error *err);
/* A snapshot of the range. */
bool export_snapshot(const struct export_job *job, int fd, struct error *err);

#endif
