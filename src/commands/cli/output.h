/* Where a command's result goes: standard output, or a file that appears only once it is whole. */
#ifndef MEMSNAP_COMMANDS_CLI_OUTPUT_H
#define MEMSNAP_COMMANDS_CLI_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

struct output {
    FILE *stream;
    char *path; /* NULL: standard output */
    char
        *temporary; /* beside path, renamed at the end; NULL: written in place (a device, a pipe) */
};

/* `path` NULL or "-": standard output. */
bool output_open(struct output *output, const char *path, struct error *err);
/* Finishes the file and puts it in its place. Errors on standard output are left to
 * standard_output_finish(). */
bool output_commit(struct output *output, struct error *err);
/* Leaves no trace of a file. */
void output_discard(struct output *output);

/* Opens what the caller of the program left closed among the three standard streams, such that
 * using it fails, rather than that the next file opened takes its place. */
void standard_streams_reserve(void);
/* Flushes and closes standard output. */
bool standard_output_finish(struct error *err);

#endif
