/* `memsnap analyze` for an allocator snapshot, or a file that is read as one. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_SNAPSHOT_H
#define MEMSNAP_COMMANDS_ANALYZE_SNAPSHOT_H

#include "commands/analyze/file.h"

/* Prints the report, or the evidence that --explain asks for. Takes ownership of the input. */
bool analyze_snapshot(const struct analyze_job *job, struct input *input,
                      struct file_figures *figures, struct error *err);

#endif
