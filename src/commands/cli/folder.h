/* Folders among the files that a command reads. */
#ifndef MEMSNAP_COMMANDS_CLI_FOLDER_H
#define MEMSNAP_COMMANDS_CLI_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "decode/core/sniff.h"

struct paths {
    char **items; /* owned, as are the texts */
    size_t count, capacity;
};

typedef bool wants_kind(enum file_kind kind);

/* Replaces each folder by the files inside it, at any depth, that the content shows to be of a kind
 * that the command wants, in order of their names. Links and names that begin with a dot are not
 * followed. `verbose` names the other files on standard error; otherwise they are only counted.
 * Fails if a folder has no such file, or too many. Processes in the sandbox look at the files. */
bool paths_expand(struct paths *paths, char *const *named, size_t count, wants_kind *wants,
                  bool verbose, struct error *err);
void paths_release(struct paths *paths);

#endif
