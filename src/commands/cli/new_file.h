/* A file that appears under its name only when it is complete, and leaves nothing behind after an
 * error, a signal or SIGKILL. */
#ifndef MEMSNAP_COMMANDS_CLI_NEW_FILE_H
#define MEMSNAP_COMMANDS_CLI_NEW_FILE_H

#include <stdbool.h>

struct new_file {
    char *path;      /* its final name; NULL: no file */
    char *temporary; /* its temporary name; NULL: unnamed (O_TMPFILE) */
    int fd;          /* to read and write; owned by the struct; use a duplicate */
};

/* Creates the file in the folder of `path`, with the permissions that `path` has or would get.
 * Errors are in errno, as for new_file_place(). */
bool new_file_create(struct new_file *file, const char *path);
/* Gives the file its final name, replacing an older file, and releases the struct. On failure
 * nothing is left. For an unnamed file, SIGKILL can leave a temporary file only here, between two
 * system calls, and only if an older file is replaced. */
bool new_file_place(struct new_file *file);
/* Removes the file and releases the struct. */
void new_file_remove(struct new_file *file);

#endif
