/* Pictures of a run of MemProfiler. */
#ifndef MEMSNAP_COMMANDS_PLOT_RUN_H
#define MEMSNAP_COMMANDS_PLOT_RUN_H

#include "commands/cli/folder.h"
#include "commands/plot/load.h"

/* True for the kinds of files that a folder stands for. */
bool plot_wants(enum file_kind kind);

/* If the files are those of a run, by their names, keeps the ones that the kind draws, and chooses
 * the kind if `*kind` is NULL. Otherwise leaves both as they are. */
void plot_run_select(struct paths *paths, const struct plot_kind **kind);

/* Reads all inputs into one run, and lets the kind draw it. */
bool plot_load_run(struct plot_load *load, const struct plot_kind *kind, const struct plot_job *job,
                   struct error *err);

#endif
