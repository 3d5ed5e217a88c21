/* Lists of paths, and the files in a folder. */
#ifndef MEMSNAP_COMMANDS_CLI_FOLDER_H
#define MEMSNAP_COMMANDS_CLI_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct paths {
    char **items; /* owned, as are the texts */
    size_t count, capacity;
};

/* Takes over the path, also on failure; NULL means that memory ran out. */
bool paths_add(struct paths *paths, char *path, struct error *err);
void paths_release(struct paths *paths);

/* Adds the regular files inside the folder, at any depth, in no order. Leaves out symbolic links,
 * and files and folders whose names begin with a dot. */
bool folder_list(struct paths *files, const char *folder, struct error *err);

#endif
