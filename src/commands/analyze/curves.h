/* `memsnap analyze` of what torch.distributed's MemoryTracker saved. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_CURVES_H
#define MEMSNAP_COMMANDS_ANALYZE_CURVES_H

#include "commands/analyze/kind.h"

bool analyze_curves(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err);

#endif
