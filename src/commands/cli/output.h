/* Where a command's result goes: standard output, or a file that appears only once it is complete.
 *
 * Symbolic links are written through. Devices, pipes and descriptors (/dev/stdout, /dev/fd/3) are
 * written directly. */
#ifndef MEMSNAP_COMMANDS_CLI_OUTPUT_H
#define MEMSNAP_COMMANDS_CLI_OUTPUT_H

#include <stdio.h>

#include "base/error.h"
#include "commands/cli/new_file.h"

struct output {
    FILE *stream;
    char *path;           /* as named by the user, for messages; NULL: standard output */
    struct new_file file; /* its path is NULL for what is written directly */
};

/* Refuses an output that is one of the files read so far (input_open()): STATUS_USAGE. */
bool output_check(const char *path, struct error *err);

/* `path` NULL or "-": standard output. Refuses as output_check() does, so inputs are to be opened
 * before. */
bool output_open(struct output *output, const char *path, struct error *err);
/* Finishes the file and puts it in its place. Errors on standard output are left to
 * standard_output_finish(). */
bool output_commit(struct output *output, struct error *err);
/* Leaves no trace of a file. */
void output_discard(struct output *output);

/* Opens those of the three standard streams that the caller of the program left closed, such that
 * using one fails, rather than that the next file opened takes its place. */
void standard_streams_reserve(void);
/* Flushes and closes standard output. */
bool standard_output_finish(struct error *err);

#endif
