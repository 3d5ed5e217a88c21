/* A file that appears under its name only once it is complete, and leaves nothing where it never
 * is: not after an error, a signal or SIGKILL. */
#ifndef MEMSNAP_COMMANDS_CLI_NEW_FILE_H
#define MEMSNAP_COMMANDS_CLI_NEW_FILE_H

#include <stdbool.h>

struct new_file {
    char *path;      /* its name in the end; NULL: there is no file */
    char *temporary; /* its name until then; NULL: it has none (O_TMPFILE) */
    int fd;          /* owned by the file: users write to copies of it */
};

/* In the folder of `path`, with the permissions that `path` has or would get. Errors are in errno,
 * here as in new_file_place(). */
bool new_file_create(struct new_file *file, const char *path);
/* Gives the file its name, replacing an older one, and releases it. Of a file without a name
 * SIGKILL can leave something behind only here, between two system calls, and only where an older
 * file is replaced. On failure nothing is left. */
bool new_file_place(struct new_file *file);
/* Removes and releases it. */
void new_file_remove(struct new_file *file);

#endif
