/* `memsnap analyze` for counters of the allocator, and for logs with tables of them or with
 * out-of-memory errors. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_STATS_H
#define MEMSNAP_COMMANDS_ANALYZE_STATS_H

#include "commands/analyze/file.h"
#include "decode/core/input.h"

/* Both take ownership of the input. */
bool analyze_stats(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                   struct error *err);
bool analyze_log(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                 struct error *err);

#endif
