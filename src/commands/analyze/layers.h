/* `memsnap analyze` of a layer trace. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_LAYERS_H
#define MEMSNAP_COMMANDS_ANALYZE_LAYERS_H

#include "commands/analyze/kind.h"

bool analyze_layers(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err);

#endif
