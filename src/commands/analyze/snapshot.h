/* `memsnap analyze` of an allocator snapshot. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_SNAPSHOT_H
#define MEMSNAP_COMMANDS_ANALYZE_SNAPSHOT_H

#include "commands/analyze/kind.h"

bool analyze_snapshot(const struct analyze_job *job, struct input *input,
                      struct file_figures *figures, struct error *err);

#endif
