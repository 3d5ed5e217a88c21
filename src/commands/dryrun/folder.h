/* The private folder of a dry run, in which the recorder and the program leave their files. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_FOLDER_H
#define MEMSNAP_COMMANDS_DRYRUN_FOLDER_H

#include <limits.h>
#include <stddef.h>

#include "commands/dryrun/options.h"

struct dryrun_folder {
    char path[PATH_MAX]; /* "": none */
};

/* The path of the stand-in for CUDA; STATUS_IO if it is not installed. It is looked for in the
 * program's folder, where the build installs it, and in ../lib/memsnap from the program's folder.
 */
bool dryrun_find_library(char path[PATH_MAX], struct error *err);

/* Creates the folder with the recorder and its configuration. */
bool dryrun_folder_make(struct dryrun_folder *folder, const struct dryrun_options *options,
                        const char *library, struct error *err);
/* Deletes the folder with everything in it. */
void dryrun_folder_remove(struct dryrun_folder *folder);

/* The path of a file in the folder. */
const char *dryrun_folder_file(const struct dryrun_folder *folder, const char *name,
                               char path[PATH_MAX]);
bool dryrun_folder_has(const struct dryrun_folder *folder, const char *name);

/* Source of src/dryrun/recorder.py and of the modules that it loads. */
extern const unsigned char dryrun_conditions[], dryrun_extensions[], dryrun_ranks[],
    dryrun_recorder[], dryrun_values[], dryrun_world[];
extern const size_t dryrun_conditions_size, dryrun_extensions_size, dryrun_ranks_size,
    dryrun_recorder_size, dryrun_values_size, dryrun_world_size;

#endif
