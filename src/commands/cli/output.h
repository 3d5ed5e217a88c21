/* The output of a command: standard output, or a file that appears only when it is complete.
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
    char *path;           /* as the user named it, for messages; NULL: standard output */
    struct new_file file; /* its path is NULL if the output is written directly */
};

/* Fails with STATUS_USAGE if the output is a file that input_open() has opened. */
bool output_check(const char *path, struct error *err);

/* Opens the output; NULL or "-" means standard output. Open the inputs before, since this also does
 * output_check(). */
bool output_open(struct output *output, const char *path, struct error *err);
/* Completes the file under its final name. standard_output_finish() reports errors of standard
 * output. */
bool output_commit(struct output *output, struct error *err);
/* Removes the unfinished file. */
void output_discard(struct output *output);

/* Creates a file that will appear at `path`, through symbolic links. Fails if there is a device or
 * anything else but a regular file. */
bool output_new_file(struct new_file *file, const char *path, struct error *err);

/* Opens any standard stream that is closed, so that using it fails and no other file gets its
 * descriptor. */
void standard_streams_reserve(void);
/* Flushes and closes standard output. */
bool standard_output_finish(struct error *err);

#endif
